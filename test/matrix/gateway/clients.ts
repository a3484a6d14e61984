import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import { type Serving, serve, statusesIn } from '../../gateway/hostile/serving.ts';
import type { Group, GroupResult } from '../group.ts';
import { bodyLimit, type ClientFault, clientFaults } from './client-faults.ts';
import { type Call, calls, endOf, secret } from './endpoints.ts';
import { providersAt } from './served.ts';
import { sound } from './talks.ts';
import { startUpstream, type Upstream } from './upstream.ts';

interface Bench {
  readonly served: Serving;
  readonly upstream: Upstream;
  readonly descriptors: number;
}

/** Longer than any limit of the server. */
const LIMIT_MS = 60_000;

/** Every client fault at every endpoint. After each, the server must have released everything and still work. */
export const clientsAtEndpoints: Group = {
  name: 'clients of the gateway',
  every: 41,
  async *run(isChosen) {
    let at = 0;
    const chosen = clientFaults.map((fault) => ({ fault, own: calls.filter(() => isChosen(at++)) }));
    const upstream = await startUpstream();
    const served = await openServer(upstream);
    try {
      const bench = { served, upstream, descriptors: await descriptorsOf({ served, upstream }) };
      for (const { fault, own } of chosen) {
        if (own.length === 0) continue;
        const before = abortedIn(served);
        upstream.talkWith(fault.talk ?? sound);
        yield* await Promise.all(own.map((call) => tryCall(fault, call, bench)));
        yield await tryAfter(fault, bench, fault.isGone ? before + own.length : before);
      }
    } finally {
      await served[Symbol.asyncDispose]();
      upstream.close();
    }
  },
};

async function openServer(upstream: Upstream): Promise<Serving> {
  const limits = `headers_ms: 1000, request_ms: 2000, upstream_ms: 20000, idle_ms: 1500, body_bytes: ${bodyLimit}`;
  const spec = [
    ...providersAt(upstream.url),
    'hooks: {guard: {command: ./guard.sh, hook: provider, max_output_bytes: 100000000}}',
    `gateway: {audit: {}, stream: windowed, window: 16, limits: {${limits}, held_bytes: 100000000}}`,
  ].join('\n');
  return await serve(spec, { 'guard.sh': `#!/bin/sh\ncat > /dev/null\necho '{"allow": true}'\n` });
}

async function descriptorsOf({ served, upstream }: Omit<Bench, 'descriptors'>): Promise<number> {
  upstream.talkWith(sound);
  for (const call of calls) await askWell(served, call);
  return served.descriptors();
}

async function askWell(served: Serving, call: Call): Promise<string> {
  const response = await fetch(`${served.url}${call.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(call.body),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  return await response.text();
}

async function brokenAt(served: Serving): Promise<string[]> {
  const told = await Promise.all(calls.map((call) => askWell(served, call).catch(String)));
  return told.flatMap((text, index) =>
    text === calls[index]?.answer ? [] : [`${calls[index]?.title}: ${text}`],
  );
}

async function tryCall(fault: ClientFault, call: Call, bench: Bench): Promise<GroupResult> {
  const { served, upstream } = bench;
  const socket = connect(served.port, '127.0.0.1');
  let heard = '';
  socket
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
    });
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
  const isAsked = () => upstream.asked().includes(call.title);
  const isAnswered = () => heard.length > 0;
  const acted = fault.act({ socket, call, body: JSON.stringify(call.body), isAnswered, isAsked });
  const isClosed = await Promise.race([fault.isDeaf ? isLetGo(bench) : closed, sleep(LIMIT_MS, false)]);
  socket.resume();
  await Promise.race([closed, sleep(1000)]);
  socket.destroy();
  await acted;
  const statuses = statusesIn(heard);
  return {
    row: `gateway: a client ${fault.title}`,
    word: isClosed ? statuses.join(' and ') || 'cut off' : 'HUNG',
    problem: problemOf(fault, call, { isClosed, statuses, heard, isAsked: isAsked() }),
  };
}

/** A client that does not read cannot see the end, so the test waits until the server has no free connection. */
async function isLetGo({ upstream, served, descriptors }: Bench): Promise<true> {
  while (upstream.asked().length === 0 || served.descriptors() > descriptors + upstream.open().idle)
    await sleep(100);
  return true;
}

interface Heard {
  readonly isClosed: boolean;
  readonly statuses: readonly number[];
  readonly heard: string;
  readonly isAsked: boolean;
}

function problemOf(fault: ClientFault, call: Call, { isClosed, statuses, heard, isAsked }: Heard) {
  const said = `${call.title} | ${heard.slice(0, 400)}`;
  if (!isClosed) return `it hangs | ${said}`;
  if (isAsked && !fault.isWhole) return `the upstream was asked | ${said}`;
  if (!fault.isWhole && heard.includes(secret)) return `it was told an answer | ${said}`;
  if (fault.isGone && heard.includes(endOf(call))) return `it was told all of the answer | ${said}`;
  const isRight = statuses.every((status) => fault.statuses.includes(status)) && statuses.length <= 2;
  return isRight ? undefined : `it should be ${fault.statuses.join(' or ') || 'cut off'} | ${said}`;
}

/** Checks that the server has no leftover connection, process or call, recorded the disconnect, and works. */
async function tryAfter({ title }: ClientFault, bench: Bench, aborted: number): Promise<GroupResult> {
  const { served, upstream, descriptors } = bench;
  const isQuiet = () =>
    upstream.open().calls === 0 &&
    // The server keeps an idle upstream connection for the next call.
    served.descriptors() <= descriptors + upstream.open().idle &&
    // The process watcher counts as one.
    served.children().length <= 1 &&
    abortedIn(served) >= aborted;
  const deadline = performance.now() + LIMIT_MS;
  while (!isQuiet() && performance.now() < deadline) await sleep(50);
  const left = `${upstream.open().calls} calls of upstreams, ${served.descriptors() - descriptors} descriptors, ${served.children().length} processes, ${abortedIn(served)} of ${aborted} rows`;
  const wasQuiet = isQuiet();
  upstream.talkWith(sound);
  const broken = await brokenAt(served);
  const isSilent = !/unhandled|uncaught|^ {4}at .+:\d+:\d+/im.test(served.printed());
  const row = `gateway: the server, after a client ${title}`;
  if (wasQuiet && broken.length === 0 && isSilent) return { row, word: 'works' };
  const said = isSilent ? `it answers ${broken.join(', ')}` : 'it prints a stack';
  const what = wasQuiet ? said : `it holds ${left}`;
  return { row, word: 'LEFT', problem: `${what} | ${served.printed().slice(-600)}` };
}

function abortedIn({ folder }: Serving): number {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(folder, '.signalbox/audit.db'), { readOnly: true });
  try {
    const counted = database
      .prepare(`SELECT count(*) AS count FROM rows WHERE body ->> '$.outcome' = 'aborted'`)
      .get();
    return Number(counted?.['count']);
  } finally {
    database.close();
  }
}
