import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { openaiProvider } from '../gateway/open-gateway.ts';
import { startSlowUpstream } from '../gateway/replicas/slow-upstream.ts';
import { answerWith, toolCall } from '../gateway/tools/judge-bench.ts';
import { answerJson, startUpstream } from '../gateway/upstream-server.ts';
import { config, run, runJson, start, workspace } from './command-line.ts';
import { type Serving, serve } from './serve.ts';

const mock = (model: string) =>
  `{id: main, type: mock, model: ${model}, additional_config: {responses: [{text: hi}]}}`;
const patience = { timeout: 60_000, interval: 50 };

const serveTwo = (cwd: string) => serve(cwd, {}, ['--processes', '2']);

/** The processes that answer, in no order. */
function workersOf({ pid }: Pick<Serving, 'pid'>): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return rows.flatMap((row) => {
    const [own, parent, ...words] = row.trim().split(/\s+/);
    return Number(parent) === pid && words.includes('--processes') ? [Number(own)] : [];
  });
}

/** Each call has a connection of its own, so they go to the processes in turn. */
async function ask(url: string, { key = '', model = 'm' } = {}) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', connection: 'close' },
      ...(key && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'pay it' }] }),
  });
  return { status: response.status, text: await response.text() };
}

async function statusesOf(count: number, url: string, options: Parameters<typeof ask>[1] = {}) {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(url, options)));
  const statuses = answers.map(({ status }) => status);
  return Object.fromEntries(
    [...new Set(statuses)].map((one) => [one, statuses.filter((each) => each === one).length]),
  );
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const noting = `#!/bin/sh
cat > /dev/null
echo $PPID >> asked-by
echo '{"allow": true}'
`;
const notes = 'hooks: {note: {command: ./note.sh, hook: provider, phases: [before_call]}}\n';

/** The process that ran the hook, for each call. */
function askersIn(cwd: string): number[] {
  const file = join(cwd, 'asked-by');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
}

test('both processes answer, and keys, limits and the audit are those of one gateway', async () => {
  const spec = `providers: [${mock('m')}]
${notes}gateway: {keys: {required: true}, audit: {keep: 30d}}
`;
  const cwd = workspace(spec, { 'note.sh': noting });
  await using serving = await serveTwo(cwd);
  const made = await run('keys create team --requests-per-minute 37', { cwd });
  const key = made.stdout.trim();
  expect(await statusesOf(200, serving.url, { key })).toEqual({ 200: 37, 429: 163 });
  const unlimited = (await run('keys create other', { cwd })).stdout.trim();
  let count = 200;
  while (new Set(askersIn(cwd)).size < 2) {
    count += 4;
    expect(await statusesOf(4, serving.url, { key: unlimited })).toEqual({ 200: 4 });
  }
  expect([...new Set(askersIn(cwd))].toSorted()).toEqual(workersOf(serving).toSorted());
  await run('keys revoke team', { cwd });
  expect(await statusesOf(20, serving.url, { key })).toEqual({ 401: 20 });
  serving.kill('SIGTERM');
  expect(await serving.ran).toMatchObject({ code: 0 });
  expect(await runJson('audit verify', { cwd })).toMatchObject({ code: 0 });
  const { document } = await runJson('audit list --limit 1000', { cwd });
  const { calls } = document as { calls: { id: string }[] };
  expect(new Set(calls.map(({ id }) => id)).size).toBe(count);
});

test('/metrics has the sums of both processes, also when one has ended', async () => {
  const cwd = workspace(`providers: [${mock('m')}]\ntelemetry: {traces: false, metrics: true}`);
  await using serving = await serveTwo(cwd);
  const count = async () => {
    const text = await (await fetch(`${serving.url}/metrics`, { headers: { connection: 'close' } })).text();
    const found = [...text.matchAll(/^(?:# TYPE )?signalbox_gateway_requests_total.*$/gm)].map(
      ([line]) => line,
    );
    return found.map((line) => line.replace(/\{.*\}/, ''));
  };
  const counted = (total: number) => [
    '# TYPE signalbox_gateway_requests_total counter',
    `signalbox_gateway_requests_total ${total}`,
  ];
  expect(await statusesOf(10, serving.url)).toEqual({ 200: 10 });
  expect([await count(), await count()]).toEqual([counted(10), counted(10)]);
  const [killed = 0] = workersOf(serving);
  process.kill(killed, 'SIGKILL');
  await serving.told('takes its place');
  await vi.waitFor(() => expect(workersOf(serving)).toHaveLength(2), patience);
  expect(await statusesOf(10, serving.url)).toEqual({ 200: 10 });
  expect(await count()).toEqual(counted(20));
});

test('counts that nobody has read survive the process that is killed later', async () => {
  const spec = `providers: [${mock('m')}]\n${notes}telemetry: {traces: false, metrics: true}`;
  const countAfterKill = async (waitMs: number) => {
    const cwd = workspace(spec, { 'note.sh': noting });
    await using serving = await serveTwo(cwd);
    const [killed = 0] = workersOf(serving);
    while (!askersIn(cwd).includes(killed)) await ask(serving.url);
    await sleep(waitMs);
    process.kill(killed, 'SIGKILL');
    await serving.told('takes its place');
    const text = await (await fetch(`${serving.url}/metrics`)).text();
    const [, counted] = /^signalbox_gateway_requests_total\{.*\} (\d+)$/m.exec(text) ?? [];
    return { counted: Number(counted ?? 0), asked: askersIn(cwd).length };
  };
  let found = await countAfterKill(2_500);
  // A busy machine needs more than the second that the docs name.
  for (let waitMs = 5_000; found.counted !== found.asked && waitMs < 30_000; waitMs *= 2)
    found = await countAfterKill(waitMs);
  expect(found.counted).toBe(found.asked);
});

test('what a person decides at one process counts at both', async () => {
  await using upstream = await startUpstream(answerJson(answerWith([toolCall('c1', 'pay', {})], 'Paid.')));
  const spec = `providers: [${openaiProvider(upstream.url)}]
hooks: {guard: {command: ./guard.sh, hook: tool}}
gateway: {tools: {hooks: true, pending: refuse}}
`;
  const guard = '#!/bin/sh\ncat > /dev/null\necho \'{"allow": false, "ask": true, "reason": "money"}\'\n';
  const cwd = workspace(spec, { 'guard.sh': guard });
  await using serving = await serveTwo(cwd);
  expect(await statusesOf(1, serving.url)).toEqual({ 400: 1 });
  const page = new URL(String(serving.document['console']));
  const remote = { cwd: '/', env: { SIGNALBOX_KEY: page.hash.replace('#key=', '') } };
  const at = ['--remote', `${page.origin}${page.pathname}`];
  const { document } = await runJson(['pending', 'list', ...at], remote);
  const [{ id }] = (document as { pending: [{ id: string }] }).pending;
  expect(await run(['pending', 'approve', id, ...at], remote)).toMatchObject({ code: 0 });
  expect(await statusesOf(10, serving.url)).toEqual({ 200: 10 });
  expect(upstream.seen).toHaveLength(1);
});

test('a process that is killed loses only its own calls, and another one takes its place', async () => {
  const upstream = await startSlowUpstream();
  await using _ = upstream.server;
  const spec = `providers: [${openaiProvider(upstream.server.url)}]\n${notes}`;
  const cwd = workspace(spec, { 'note.sh': noting });
  await using serving = await serveTwo(cwd);
  const [killed = 0, other = 0] = workersOf(serving);
  const calls: Promise<number | 'cut'>[] = [];
  const call = () =>
    ask(serving.url).then(
      ({ status }) => status,
      () => 'cut' as const,
    );
  // A busy process gets fewer connections.
  while (new Set(askersIn(cwd)).size < 2) {
    calls.push(call(), call());
    await vi.waitFor(() => expect(upstream.held()).toBe(calls.length), patience);
  }
  const lost = askersIn(cwd).filter((pid) => pid === killed).length;
  process.kill(killed, 'SIGKILL');
  await serving.told('takes its place');
  upstream.release();
  const ends = await Promise.all(calls);
  expect(ends.filter((end) => end === 'cut')).toHaveLength(lost);
  expect(ends.filter((end) => end === 200)).toHaveLength(calls.length - lost);
  await vi.waitFor(() => expect(workersOf(serving)).toHaveLength(2), patience);
  expect(workersOf(serving)).toContain(other);
  expect(await statusesOf(10, serving.url)).toEqual({ 200: 10 });
});

test('SIGHUP reloads both processes or none, and one that starts later uses the config of the others', async () => {
  const cwd = workspace(`providers: [${mock('one')}]`);
  await using serving = await serveTwo(cwd);
  const write = (text: string) => writeFileSync(join(cwd, 'runtime.yaml'), text);
  write(config(`providers: [${mock('two')}]`));
  serving.kill('SIGHUP');
  await serving.told('reloaded');
  expect(await statusesOf(10, serving.url, { model: 'two' })).toEqual({ 200: 10 });
  write(config('gateway: {on_denied: answer}'));
  serving.kill('SIGHUP');
  expect(await serving.told('not reloaded')).toContain('CONFIG_INVALID');
  expect(await statusesOf(10, serving.url, { model: 'two' })).toEqual({ 200: 10 });
  // The config has mistakes, so nothing takes this place until they are gone.
  const [killed = 0, other = 0] = workersOf(serving);
  process.kill(killed, 'SIGKILL');
  await serving.told('the next attempt follows');
  expect(await statusesOf(10, serving.url, { model: 'two' })).toEqual({ 200: 10 });
  write(config(`providers: [${mock('three')}]`));
  await serving.told('all processes reload it');
  await vi.waitFor(async () => {
    expect(await statusesOf(10, serving.url, { model: 'three' })).toEqual({ 200: 10 });
    expect(workersOf(serving)).toEqual(expect.arrayContaining([other, expect.any(Number)]));
  }, patience);
});

test('a process that ends during a reload leaves the reload to the others, and one takes its place', async () => {
  const cwd = workspace(`providers: [${mock('one')}]`);
  await using serving = await serve(cwd, {}, ['--processes', '3']);
  writeFileSync(join(cwd, 'runtime.yaml'), config(`providers: [${mock('two')}]`));
  for (const round of [1, 2, 3, 4]) {
    const [killed = 0] = workersOf(serving).toReversed();
    serving.kill('SIGHUP');
    process.kill(killed, 'SIGKILL');
    await serving.told(`process ${killed} was ended`);
    await vi.waitFor(() => expect([round, workersOf(serving).length]).toEqual([round, 3]), patience);
    expect(await statusesOf(9, serving.url, { model: 'two' })).toEqual({ 200: 9 });
  }
  serving.kill('SIGTERM');
  const { code, stderr } = await serving.ran;
  expect([code, stderr.match(/^reloaded/gm)?.length, stderr.includes('error')]).toEqual([0, 4, false]);
});

test.concurrent('all processes go on after a pause of the whole gateway that ends none of them', async ({
  expect,
}) => {
  await using serving = await serveTwo(workspace(`providers: [${mock('m')}]`));
  const workers = workersOf(serving);
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of [serving.pid, ...workers]) process.kill(pid, signal);
  };
  signalAll('SIGSTOP');
  // As long as a process may be silent, and more.
  await sleep(25_000);
  signalAll('SIGCONT');
  await sleep(3_000);
  expect(workersOf(serving)).toEqual(workers);
  expect(await statusesOf(10, serving.url)).toEqual({ 200: 10 });
  serving.kill('SIGTERM');
  expect(await serving.ran).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('a stopped process keeps neither /metrics nor the next reload waiting for good', async ({
  expect,
}) => {
  const cwd = workspace(`providers: [${mock('one')}]\ntelemetry: {traces: false, metrics: true}`);
  await using serving = await serveTwo(cwd);
  writeFileSync(join(cwd, 'runtime.yaml'), config(`providers: [${mock('two')}]`));
  const [stopped = 0] = workersOf(serving);
  process.kill(stopped, 'SIGSTOP');
  // One of two connections waits for the stopped process.
  const scraped = [1, 2].map(async () => (await fetch(`${serving.url}/metrics`)).status);
  expect(await Promise.any(scraped)).toBe(200);
  serving.kill('SIGHUP');
  await Promise.all([serving.told(`process ${stopped} was ended by SIGKILL`), serving.told('reloaded: ')]);
  // Waits for good if this version of Node hands connections over by another message: see `noteHanded`.
  await Promise.allSettled(scraped);
  await vi.waitFor(() => expect(workersOf(serving)).toHaveLength(2), patience);
  expect(await statusesOf(10, serving.url, { model: 'two' })).toEqual({ 200: 10 });
});

test('calls in progress at SIGTERM are answered by both processes', async () => {
  const upstream = await startSlowUpstream();
  await using _ = upstream.server;
  await using serving = await serveTwo(workspace(`providers: [${openaiProvider(upstream.server.url)}]`));
  const calls = statusesOf(4, serving.url);
  await vi.waitFor(() => expect(upstream.held()).toBe(4), patience);
  serving.kill('SIGTERM');
  upstream.release();
  expect([await calls, await serving.ran]).toMatchObject([{ 200: 4 }, { code: 0, stderr: '' }]);
});

test('without their supervisor the processes end, and those that keep ending end the supervisor', async () => {
  const cwd = workspace(`providers: [${mock('m')}]`);
  await using killed = await serveTwo(cwd);
  const workers = workersOf(killed);
  killed.kill('SIGKILL');
  await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), patience);
  await using serving = await serveTwo(cwd);
  const killing = setInterval(() => {
    for (const pid of workersOf(serving).filter(isAlive)) process.kill(pid, 'SIGKILL');
  }, 20);
  const { code, stdout } = await serving.ran;
  clearInterval(killing);
  const [, last = ''] = stdout.trim().split('\n');
  expect([code, JSON.parse(last)]).toMatchObject([1, { error: { code: 'PROCESS_EXIT' } }]);
});

describe('what several processes would count separately is refused at its place', () => {
  const limited = (key: string) => `providers:\n- ${mock('m').replace(/\}$/, `, ${key}}`)}`;
  test.each([
    { at: '5:3 state_store', spec: 'state_store: {type: memory}\nproviders: []' },
    { at: '6:84 providers[0].rate_limit', spec: limited('rate_limit: {requests_per_minute: 5}') },
    { at: '6:84 providers[0].stream_max_concurrent', spec: limited('stream_max_concurrent: 2') },
    {
      at: '6:22 gateway.limits.connections',
      spec: `providers: [${mock('m')}]\ngateway: {limits: {connections: 1}}`,
    },
  ])('$at', async ({ at, spec }) => {
    const args = ['serve', '--listen', '127.0.0.1:0', '--processes', '2', '--json'];
    const { code, stdout } = await start(args, { cwd: workspace(spec) }).ran;
    const { error } = JSON.parse(stdout);
    expect([code, error.code, error.message.split(': ')[0]]).toEqual([
      2,
      'CONFIG_INVALID',
      `runtime.yaml:${at}`,
    ]);
  });
});

test('no machine is filled with processes', async () => {
  const { code, stdout } = await run('serve --processes 100000 --json', { cwd: workspace('providers: []') });
  const { error } = JSON.parse(stdout);
  expect([code, error.code, error.message]).toEqual([
    2,
    'USAGE',
    expect.stringMatching(/^--processes must be at most [0-9]+, not 100000$/),
  ]);
});
