import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CallOutcome, Json, openRuntime, type Runtime } from '../../src/index.ts';
import { identify } from '../../src/store/identities.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { config, folderOf, pipeline } from '../workspace.ts';

/** Appends a line to ran.txt for each execution, and returns its arguments with a number. */
const counts = `#!/bin/sh
echo run >> ran.txt
cat > last.json
printf '{"result": {"ran": %s, "input": %s}}' "$(wc -l < ran.txt)" "$(cat last.json)"
`;

/** Like it, but waits for the file \`go\` first. */
const waits = `#!/bin/sh
echo $$ >> pids.txt
echo run >> ran.txt
while [ ! -e go ]; do sleep 0.02; done
printf '{"result": {"ran": %s}}' "$(wc -l < ran.txt)"
`;

const tools = `
tools:
  pay: {description: pays, approval: {by: [mara]}, exec: {command: ./counts.sh}}
  fast: {description: pays soon, approval: {by: [mara], expires: 1s}, exec: {command: ./counts.sh}}
  read: {description: reads, exec: {command: ./counts.sh}}
  slow: {description: takes its time, exec: {command: ./waits.sh, timeout_ms: 60000}}
  once: {description: acts once, idempotent: false, exec: {command: ./waits.sh, timeout_ms: 60000}}
`;

interface Place {
  readonly spec: string;
  readonly env: Readonly<Record<string, string>>;
  readonly openStore: (folder: string) => Promise<Store>;
}

describe('identities of calls in SQLite', () => {
  identityTests(async () => ({
    spec: 'state_store: {type: sqlite, path: state.db}',
    env: {},
    openStore: (folder) => openSqliteStore(join(folder, 'state.db')),
  }));
});

describe.runIf(hasPostgres)(`identities of calls in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());
  identityTests(async () => {
    const url = await server.newUrl('socket');
    return {
      spec: 'state_store: {type: postgres, url_env: CALLS_URL}',
      env: { CALLS_URL: url },
      openStore: () => openPostgresStore(addressOf(url)),
    };
  });
});

async function openDesk({ spec, env: own, openStore }: Place) {
  const env = { ...process.env, ...own };
  const files = { 'runtime.yaml': config(`${spec}${tools}`), 'counts.sh': counts, 'waits.sh': waits };
  const folder = folderOf(files);
  const file = join(folder, 'runtime.yaml');
  const linesOf = (name: string) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  };
  return {
    ...{ file, folder },
    open: async (): Promise<Runtime> => {
      const runtime = await openRuntime(file, { log: false, env });
      onTestFinished(() => runtime.close());
      return runtime;
    },
    store: async (): Promise<Store> => {
      const store = await openStore(folder);
      onTestFinished(() => store.close());
      return store;
    },
    /** Another process. \`next\` is its next line. */
    spawn: (given: readonly unknown[], prefix: readonly string[] = []) => {
      const args = given.map((each) =>
        typeof each === 'string' && each.startsWith('@') ? each : JSON.stringify(each),
      );
      const [command = '', ...rest] = [
        ...prefix,
        process.execPath,
        caller,
        file,
        String(given[0]),
        ...args.slice(1),
      ];
      const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return { next: async () => JSON.parse(String((await lines.next()).value)), kill: () => kill(child) };
    },
    /** How often a tool has run. */
    ran: () => linesOf('ran.txt').length,
    pids: () => linesOf('pids.txt'),
    /** Lets the waiting tools end. */
    letGo: () => writeFileSync(join(folder, 'go'), ''),
  };
}

const caller = join(import.meta.dirname, 'actor.ts');

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const mara = { by: 'mara', reason: 'checked' };
const identity = { principal: 'key_1', id: 'call_1' };

function pendingOf(document: CallOutcome | undefined) {
  if (document?.status !== 'pending') throw new Error(JSON.stringify(document));
  return document.pending;
}

function identityTests(newPlace: () => Promise<Place>): void {
  test('the same id in two processes is one call: one run, one pending, one execution, one outcome', async () => {
    const desk = await openDesk(await newPlace());
    const [one, two] = [await desk.open(), await desk.open()];
    const args = '{"cents": 12345678901234567890, "to": "joe"}';
    const made = await Promise.all(
      [one, two, one, two].map((runtime) => runtime.tools.call('pay', args, { identity })),
    );
    const { id, run_id: run } = pendingOf(made[0]);
    expect(made.map(pendingOf)).toEqual(Array(4).fill(pendingOf(made[0])));
    expect(run).toMatch(/^run_[0-9a-f]{32}$/);
    expect(await one.pending.list()).toHaveLength(1);
    expect(await one.runs.principal(run)).toBe('key_1');
    await two.pending.approve(id, mara);
    const reordered = '{"to":"joe",  "cents":12345678901234567890}';
    const ended = await Promise.all([
      ...Array.from({ length: 5 }, () => one.tools.call('pay', args, { identity })),
      ...Array.from({ length: 5 }, () => two.tools.call('pay', reordered, { identity })),
      one.pending.outcome(id),
      two.tools.outcome(run),
    ]);
    const input = { args: JSON.parse(args), approval: { id, decision: 'approved', ...mara } };
    for (const document of ended)
      expect(JSON.parse(JSON.stringify(document))).toEqual({ status: 'ok', result: { ran: 1, input } });
    expect(readFileSync(join(desk.folder, 'last.json'), 'utf8')).toContain('12345678901234567890');
    expect(desk.ran()).toBe(1);
    const later = await desk.open();
    expect(await later.tools.call('pay', args, { identity })).toEqual(ended[0]);
    expect(await later.runs.list()).toHaveLength(1);
  });

  test('a started call is stored before its process, cancelled from elsewhere, and read after a restart', async () => {
    const desk = await openDesk(await newPlace());
    const [one, two] = [await desk.open(), await desk.open()];
    const { id, done } = one.tools.start('slow', {}, { id: identity, labels: { team: 'desk' } });
    const run = await id;
    await expect.poll(() => desk.ran()).toBe(1);
    expect(await two.tools.outcome(run, { waitMs: 0 })).toEqual({ status: 'running', run_id: run });
    const [shown] = await two.runs.list({ labels: { team: 'desk' } });
    expect(shown).toMatchObject({ run_id: run, kind: 'tool', name: 'slow', status: 'running' });
    await two.runs.cancel(run, mara);
    const cancelled = {
      status: 'failed',
      error: { code: 'ABORTED', message: expect.stringContaining('mara') },
    };
    expect(await done).toMatchObject(cancelled);
    await expect.poll(() => existsSync(`/proc/${desk.pids()[0]}`)).toBe(false);
    await one.close();
    expect(await (await desk.open()).tools.outcome(run)).toMatchObject(cancelled);
    expect(await two.tools.call('slow', {}, { identity })).toMatchObject(cancelled);
  });

  test('without an id, a call that waits is found, and a delivered one is a new call', async () => {
    const desk = await openDesk(await newPlace());
    const [one, two] = [await desk.open(), await desk.open()];
    const options = { identity: { principal: 'key_1' } };
    const first = pendingOf(await one.tools.call('pay', { cents: 1 }, options));
    expect(pendingOf(await two.tools.call('pay', { cents: 1 }, options))).toEqual(first);
    const others = [
      await one.tools.call('pay', { cents: 2 }, options),
      await one.tools.call('pay', '{"cents": 1.0}', options),
      await one.tools.call('pay', { cents: 1 }, { identity: { principal: 'key_2' } }),
      await one.tools.call('pay', { cents: 1 }),
    ].map((document) => pendingOf(document).id);
    expect(new Set([...others, first.id]).size).toBe(5);
    await one.pending.approve(first.id, mara);
    const ended = await Promise.all(
      Array.from({ length: 10 }, () => two.tools.call('pay', { cents: 1 }, options)),
    );
    for (const document of ended) expect(document).toMatchObject({ status: 'ok', result: { ran: 1 } });
    expect(pendingOf(await one.tools.call('pay', { cents: 1 }, options)).id).not.toBe(first.id);
    expect(await one.tools.call('read', {}, options)).toMatchObject({ result: { ran: 2 } });
    expect(await one.tools.call('read', {}, options)).toMatchObject({ result: { ran: 3 } });
  });

  test('an id belongs to one tool and its arguments, to the digit, and to one principal', async () => {
    const desk = await openDesk(await newPlace());
    const { tools } = await desk.open();
    const first = pendingOf(await tools.call('pay', '{"a": 1, "b": 20000000000000000001}', { identity }));
    const others: readonly (readonly [string, string, string])[] = [
      ['pay', '{"a": 1.0, "b": 20000000000000000001}', 'other arguments'],
      ['pay', '{"a": 1, "b": 20000000000000000002}', 'other arguments'],
      ['pay', '{"a": 1}', 'other arguments'],
      ['read', '{"a": 1, "b": 20000000000000000001}', 'tool "pay"'],
    ];
    for (const [tool, args, why] of others) {
      const error = {
        code: 'CALL_ID_TAKEN',
        message: `the call id "call_1" has already been used for ${why}`,
      };
      await expect(tools.call(tool, args, { identity })).rejects.toMatchObject(error);
      const { id, done } = tools.start(tool, args, { id: identity });
      await expect(id).rejects.toMatchObject(error);
      await expect(done).rejects.toMatchObject(error);
    }
    const same = await tools.call('pay', '{"b":20000000000000000001,"a":1}', { identity });
    expect(pendingOf(same)).toEqual(first);
    const other = { principal: 'key_2', id: 'call_1' };
    const theirs = await tools.call('pay', '{"a": 1, "b": 20000000000000000001}', { identity: other });
    expect(pendingOf(theirs).id).not.toBe(first.id);
    expect(desk.ran()).toBe(0);
  });

  test('a process that dies between pending, decision and outcome changes nothing', async () => {
    const desk = await openDesk(await newPlace());
    const dying = desk.spawn(['call', 'pay', { cents: 1 }, { identity }]);
    const { id, run_id: run } = pendingOf(await dying.next());
    await dying.kill();
    const decider = await desk.open();
    expect((await decider.pending.page()).pending).toMatchObject([{ id, caller: { principal: 'key_1' } }]);
    await decider.pending.approve(id, mara);
    await decider.close();
    const ten = Array.from({ length: 3 }, () => desk.spawn(['call', 'pay', { cents: 1 }, { identity }]));
    const documents = await Promise.all(ten.map(({ next }) => next()));
    for (const document of documents) expect(document).toMatchObject({ status: 'ok', result: { ran: 1 } });
    expect(await (await desk.open()).tools.outcome(run)).toEqual(documents[0]);
    expect(desk.ran()).toBe(1);
  });

  test('a process that dies during the tool: the tool runs again, or a person is asked first', async () => {
    const desk = await openDesk(await newPlace());
    const dying = [
      desk.spawn(['start', 'slow', {}, { id: 'a' }]),
      desk.spawn(['start', 'once', {}, { id: { principal: 'key_1', id: 'b' } }]),
    ];
    const [slow = '', careful = ''] = await Promise.all(dying.map(({ next }) => next()));
    await expect.poll(desk.ran).toBe(2);
    await Promise.all(dying.map((each) => each.kill()));
    desk.letGo();
    const [one, two] = [await desk.open(), await desk.open()];
    const same = { identity: { principal: '', id: 'a' } };
    const [first, second] = await Promise.all([one.tools.call('slow', {}, same), two.tools.outcome(slow)]);
    expect(first).toEqual({ status: 'ok', result: { ran: 3 } });
    expect(second).toEqual(first);
    const asked = await Promise.all([one, two].map((each) => each.tools.outcome(careful, { waitMs: 2_000 })));
    const { id, reason } = pendingOf(asked[0]);
    expect(reason).toBe('the call was interrupted, and the tool is not idempotent');
    expect(asked[1]).toEqual(asked[0]);
    await one.pending.respond(id, { ...mara, result: 'it had run' });
    expect(await two.pending.outcome(id)).toEqual({ status: 'ok', result: 'it had run' });
    expect(desk.ran()).toBe(3);
  });

  test('a process that died before it stored the run of an identity leaves the run to the next caller', async () => {
    const desk = await openDesk(await newPlace());
    const runtime = await desk.open();
    const store = await desk.store();
    const args = { cents: 1 };
    for (const of of [identity, { principal: 'key_1', id: undefined }]) {
      const run = `run_of_${of.id ?? 'nobody'}`;
      await store.claimIdentity({ ...identify(of, 'pay', Json.from(args)), run, at: Date.now() });
      const made = await Promise.all([1, 2].map(() => runtime.tools.call('pay', args, { identity: of })));
      expect(made.map((document) => pendingOf(document).run_id)).toEqual([run, run]);
    }
    expect(await runtime.pending.list()).toHaveLength(2);
  });

  test('an outcome is awaited as long as the caller wants', async () => {
    const desk = await openDesk(await newPlace());
    const { tools, pending, runs } = await desk.open();
    const made = await tools.call('pay', { cents: 1 }, { identity });
    const { id, run_id: run } = pendingOf(made);
    expect(await tools.outcome(run, { waitMs: 0 })).toEqual(made);
    expect(await pending.outcome(id, { waitMs: 100 })).toEqual(made);
    const signal = AbortSignal.timeout(100);
    await expect(pending.outcome(id, { signal })).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(pending.outcome(id, { signal })).rejects.toMatchObject({ code: 'ABORTED' });
    const waiting = pending.outcome(id);
    const ofOther = (await desk.open()).tools.outcome(run);
    await pending.approve(id, mara);
    expect(await waiting).toMatchObject({ status: 'ok', result: { ran: 1 } });
    expect(await ofOther).toEqual(await waiting);
    const wrong = [
      [() => tools.outcome('run_of_nobody'), 'RUN_UNKNOWN'],
      [() => pending.outcome('pending_0'), 'RUN_UNKNOWN'],
      [() => runs.principal('run_of_nobody'), 'RUN_UNKNOWN'],
      [() => tools.outcome(run, { waitMs: -1 }), 'USAGE'],
      [() => tools.outcome(run, { waitMs: Number.NaN }), 'USAGE'],
      [() => tools.call('pay', {}, { identity: { principal: 'p', id: '' } }), 'USAGE'],
      [() => tools.call('pay', {}, { identity: JSON.parse('{"id": "x"}') }), 'USAGE'],
      [() => tools.start('pay', {}, { labels: JSON.parse('{"a": 1}') }).done, 'USAGE'],
      [() => tools.start('nothing', {}).id, 'NAME_UNKNOWN'],
      [() => tools.start('pay', '[').done, 'ARGS_INVALID'],
    ] as const;
    for (const [call, code] of wrong) await expect(call()).rejects.toMatchObject({ code });
    expect(await tools.call('pay', '[', { identity })).toMatchObject({ error: { code: 'ARGS_INVALID' } });
  });

  test('the outcome of a call in a pipeline is that of its step, and a call of an agent has none here', async () => {
    const desk = await openDesk(await newPlace());
    const { run, pending, tools, agents } = await desk.open();
    const file = join(desk.folder, 'two.pipeline.yaml');
    const steps = `steps:\n  - {id: first, tool: pay, args: {cents: 1}}\n  - {id: second, tool: pay, args: {cents: 2}}`;
    writeFileSync(file, pipeline(steps));
    const { pending: waiting, run_id: id } = await run(file);
    const first = waiting[0]?.id ?? '';
    expect(await pending.outcome(first, { waitMs: 0 })).toMatchObject({
      status: 'pending',
      pending: { id: first },
    });
    await pending.approve(first, mara);
    const paid = { status: 'ok', result: { ran: 1, input: { args: { cents: 1 } } } };
    expect(await pending.outcome(first)).toMatchObject(paid);
    expect(await pending.outcome(first)).toMatchObject(paid);
    expect((await pending.list()).map(({ run_id, args }) => [run_id, args])).toEqual([[id, { cents: 2 }]]);
    await expect(tools.outcome(id)).rejects.toMatchObject({ code: 'USAGE' });
    const event = {
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'pay', args: {}, call_id: 'c' },
    } as const;
    await agents.judge({ ...event, caller: { agent: 'claude', session: 's', cwd: '/' } });
    const [, ofAgent] = await pending.list();
    await expect(pending.outcome(ofAgent?.id ?? '')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(tools.outcome(ofAgent?.run_id ?? '')).rejects.toMatchObject({ code: 'USAGE' });
    expect(desk.ran()).toBe(1);
  });

  test('every decision has its outcome, which stays', async () => {
    const desk = await openDesk(await newPlace());
    const { tools, pending } = await desk.open();
    const ask = async (tool: string, id: string) =>
      pendingOf(await tools.call(tool, {}, { identity: { principal: 'p', id } })).id;
    const [rejected, responded, expired] = [
      await ask('pay', 'a'),
      await ask('pay', 'b'),
      await ask('fast', 'c'),
    ];
    await pending.reject(rejected, mara);
    await pending.respond(responded, { ...mara, result: { paid: 0 } });
    const outcomes = async () =>
      await Promise.all([rejected, responded, expired].map((id) => pending.outcome(id)));
    const first = await outcomes();
    expect(first).toMatchObject([
      { status: 'failed', error: { code: 'REJECTED' } },
      { status: 'ok', result: { paid: 0 } },
      { status: 'failed', error: { code: 'PENDING_EXPIRED' } },
    ]);
    expect(await outcomes()).toEqual(first);
    expect(await tools.call('fast', {}, { identity: { principal: 'p', id: 'c' } })).toEqual(first[2]);
    expect(desk.ran()).toBe(0);
  });

  test('an aborted signal cancels a call that runs here, and leaves one that waits', async () => {
    const desk = await openDesk(await newPlace());
    const { tools, pending, runs } = await desk.open();
    const stop = new AbortController();
    const { id, done } = tools.start('slow', {}, { id: 'a', signal: stop.signal });
    await expect.poll(desk.ran).toBe(1);
    const waiting = tools.start('pay', {}, { id: 'b', signal: stop.signal });
    expect(await waiting.done).toMatchObject({ status: 'pending' });
    stop.abort();
    expect(await done).toMatchObject({ status: 'failed', error: { code: 'ABORTED' } });
    await expect.poll(() => existsSync(`/proc/${desk.pids()[0]}`)).toBe(false);
    expect((await runs.show(await id)).status).toBe('cancelled');
    expect(await pending.list()).toHaveLength(1);
    const late = tools.start('slow', {}, { id: 'c', signal: stop.signal });
    await expect(late.done).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await runs.list()).toHaveLength(2);
  });

  test('a call is cancelled when the last of its callers has left', async () => {
    const desk = await openDesk(await newPlace());
    const { tools, runs } = await desk.open();
    const stops = [new AbortController(), new AbortController(), new AbortController()];
    const call = async (stop: AbortController) =>
      await tools.call('slow', {}, { identity, signal: stop.signal });
    const [first, second, third] = stops.map(call);
    await expect.poll(desk.ran).toBe(1);
    const run = (await runs.list())[0]?.run_id ?? '';
    const allJoin = async () => await tools.outcome(run, { waitMs: 500 });
    expect(await allJoin()).toMatchObject({ status: 'running' });
    stops[0]?.abort();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect(existsSync(`/proc/${desk.pids()[0]}`)).toBe(true);
    const fourth = tools.call('slow', {}, { identity });
    await allJoin();
    stops[1]?.abort();
    await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
    desk.letGo();
    expect(await third).toMatchObject({ status: 'ok' });
    expect(await fourth).toMatchObject({ status: 'ok' });
    expect(desk.ran()).toBe(1);
  });

  test('a call that every caller has left is cancelled', async () => {
    const desk = await openDesk(await newPlace());
    const { tools, runs } = await desk.open();
    const stops = [new AbortController(), new AbortController()];
    const calls = stops.map(async ({ signal }) => await tools.call('slow', {}, { identity, signal }));
    const ends = Promise.allSettled(calls);
    await expect.poll(desk.ran).toBe(1);
    await tools.outcome((await runs.list())[0]?.run_id ?? '', { waitMs: 500 });
    for (const stop of stops) stop.abort();
    await ends;
    await expect.poll(() => existsSync(`/proc/${desk.pids()[0]}`)).toBe(false);
    expect(await runs.list()).toMatchObject([{ status: 'cancelled' }]);
  });

  test('an outcome counts for a day after the end of its call, also when the clock goes back', async () => {
    const desk = await openDesk(await newPlace());
    const { tools } = await desk.open();
    const call = async () => await tools.call('read', {}, { identity });
    const hour = 3_600_000;
    const now = Date.now;
    let shiftMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await call()).toMatchObject({ result: { ran: 1 } });
    for (shiftMs of [-48 * hour, 0, 23 * hour]) expect(await call()).toMatchObject({ result: { ran: 1 } });
    shiftMs = -48 * hour;
    expect(await tools.call('read', {}, { identity: { ...identity, id: 'x' } })).toMatchObject({
      result: { ran: 2 },
    });
  });
}

test('without an identity, or with one but without an id, a call that does not wait is not stored', async () => {
  const place = {
    spec: 'state_store: {type: sqlite, path: state.db}',
    env: {},
    openStore: () => Promise.reject(),
  };
  const desk = await openDesk(place);
  const { tools, runs } = await desk.open();
  expect(await tools.call('read', {})).toMatchObject({ result: { ran: 1 } });
  expect(existsSync(join(desk.folder, 'state.db'))).toBe(false);
  expect(await tools.call('read', {}, { identity: { principal: 'p' } })).toMatchObject({
    result: { ran: 2 },
  });
  expect(await runs.list()).toEqual([]);
});

test('a store in memory keeps identities and outcomes as long as the runtime is open', async () => {
  const desk = await openDesk({
    spec: 'state_store: {type: memory}',
    env: {},
    openStore: () => Promise.reject(),
  });
  const { tools, pending, runs } = await desk.open();
  const { id, run_id: run } = pendingOf(await tools.call('pay', {}, { identity }));
  const polls = Array.from({ length: 10 }, () => pending.outcome(id));
  await pending.approve(id, mara);
  for (const outcome of await Promise.all(polls)) expect(outcome).toMatchObject({ result: { ran: 1 } });
  expect(await tools.call('pay', {}, { identity })).toMatchObject({ result: { ran: 1 } });
  expect(await runs.principal(run)).toBe('key_1');
  const slow = tools.start('slow', {});
  await expect.poll(desk.ran).toBe(2);
  await runs.cancel(await slow.id, mara);
  expect(await slow.done).toMatchObject({ status: 'failed', error: { code: 'ABORTED' } });
});

test('a full disk fails the call before its process starts, and the same call works once there is room', async () => {
  const desk = await openDesk({
    spec: 'state_store: {type: sqlite, path: state.db}',
    env: {},
    openStore: (folder) => openSqliteStore(join(folder, 'state.db')),
  });
  await (await desk.open()).runs.list();
  writeFileSync(join(desk.folder, 'args.json'), JSON.stringify({ note: 'x'.repeat(1_000_000) }));
  const args = `@${join(desk.folder, 'args.json')}`;
  const limited = ['sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'];
  for (const method of ['call', 'start']) {
    const options = method === 'call' ? { identity } : { id: identity };
    expect(await desk.spawn([method, 'read', args, options], limited).next()).toEqual({
      thrown: 'STORE_FAILED',
    });
  }
  expect([desk.ran(), await (await desk.open()).runs.list()]).toEqual([0, []]);
  const done = await desk.spawn(['call', 'read', args, { identity }]).next();
  expect(done).toMatchObject({ status: 'ok', result: { ran: 1 } });
});
