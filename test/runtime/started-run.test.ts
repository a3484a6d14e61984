import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type RunEvent } from '../../src/index.ts';
import { openEventQueue } from '../../src/runtime/runs/serve.ts';
import { faultOf } from '../process/harness.ts';
import { open, write } from './open.ts';

const spec = `
state_store: {type: sqlite}
tools:
  count: {exec: {command: ./count.sh}}
  refund: {exec: {command: $bin/pending.sh}}
  lost: {exec: {command: $bin/error-text.sh}}
`;
const pipelineOf = (name: string, steps: string) =>
  `apiVersion: signalbox/v1\nkind: Pipeline\nmetadata: {name: ${name}}\nspec:\n  runtime: ./runtime.yaml\n  steps: ${steps}\n`;
const files = {
  // Writes one byte for each execution.
  'count.sh': '#!/bin/sh\ncat > /dev/null\nprintf . >> "$0.calls"\nsleep 0.2\nprintf \'{"result": 1}\'\n',
  'count.yaml': pipelineOf('count', '[{id: one, tool: count}]'),
  'other.yaml': pipelineOf('other', '[{id: one, tool: count}]'),
  'pay.yaml': pipelineOf('pay', '[{id: pay, tool: refund}]'),
  'lost.yaml': pipelineOf('lost', '[{id: one, tool: lost}]'),
};

async function desk() {
  const { chmodSync, existsSync, readFileSync } = await import('node:fs');
  const opened = await open(spec, {}, files);
  const { folder } = opened;
  chmodSync(`${folder}/count.sh`, 0o755);
  const callsFile = `${folder}/count.sh.calls`;
  const calls = () => (existsSync(callsFile) ? readFileSync(callsFile, 'utf8').length : 0);
  return { ...opened, calls, at: (name: string) => `${folder}/${name}` };
}

const typesOf = (events: readonly RunEvent[]) =>
  events.map((event) => ('step' in event ? `${event.type} ${event.step}` : event.type));

test('of many concurrent starts with one id, also in other processes, exactly one runs [DS-RUNS-01]', async () => {
  const { runtime, folder, calls, at } = await desk();
  const other = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  onTestFinished(() => other.close());
  const starts = [runtime, other, runtime, other].map((each) =>
    each.run(at('count.yaml'), { n: 1 }, { id: 'order-17' }),
  );
  const documents = await Promise.all(starts);
  expect(calls()).toBe(1);
  expect(documents.map(({ run_id }) => run_id)).toEqual(Array(4).fill('order-17'));
  const statuses = documents.map(({ status }) => status).sort();
  expect(statuses).toEqual(['completed', 'running', 'running', 'running']);
});

test('a later start with the id gets the first run’s result or state [DS-RUNS-01]', async () => {
  const { runtime, calls, at } = await desk();
  const first = await runtime.run(at('count.yaml'), { n: 1, m: [2] }, { id: 'a' });
  const again = await runtime.run(at('count.yaml'), '{"n": 1.0, "m": [2]}', { id: 'a', labels: { x: 'y' } });
  expect(again).toEqual(first);
  const { run_id, pending } = await runtime.run(at('pay.yaml'), {}, { id: 'b' });
  expect(await runtime.run(at('pay.yaml'), {}, { id: 'b' })).toMatchObject({
    run_id,
    status: 'pending',
    pending,
  });
  expect(calls()).toBe(1);
});

test('another pipeline or input under an id is refused, and runs nothing [DS-RUNS-02]', async () => {
  const { runtime, calls, at } = await desk();
  await runtime.run(at('count.yaml'), { n: 1 }, { id: 'a' });
  const refusals = [
    runtime.run(at('count.yaml'), { n: 2 }, { id: 'a' }),
    runtime.run(at('other.yaml'), { n: 1 }, { id: 'a' }),
  ].map(async (start) => (await faultOf(start)).code);
  expect(await Promise.all(refusals)).toEqual(['RUN_ID_TAKEN', 'RUN_ID_TAKEN']);
  const unusable = ['', '../x', 'a b', 'x'.repeat(129)].map(
    async (id) => (await faultOf(runtime.run(at('count.yaml'), {}, { id }))).code,
  );
  expect(await Promise.all(unusable)).toEqual(Array(4).fill('USAGE'));
  expect(calls()).toBe(1);
});

test.each<Readonly<Record<string, unknown>>>([
  { '': 'x' },
  { 'a b': 'x' },
  { ['x'.repeat(64)]: 'x' },
  { a: 1 },
  { a: 'x'.repeat(257) },
  { a: 'two\nlines' },
  { a: '\u202e' },
  { a: '\ud800' },
  Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, ''])),
])('labels have a length limit and are readable: %j is refused [DS-RUNS-03]', async (labels) => {
  const { runtime, at } = await desk();
  const options = { labels: labels as Record<string, string> };
  expect((await faultOf(runtime.run(at('count.yaml'), {}, options))).code).toBe('USAGE');
  expect(await runtime.runs.list()).toEqual([]);
});

test('runs are listed by label, a page at a time [DS-RUNS-03]', async () => {
  const { runtime, at } = await desk();
  for (const shop of ['berlin', 'oslo', 'berlin'])
    await runtime.run(at('lost.yaml'), {}, { labels: { shop }, id: `${shop}-${Math.random()}` });
  const first = await runtime.runs.page({ labels: { shop: 'berlin' }, limit: 1 });
  const { runs: rest, next } = await runtime.runs.page({ labels: { shop: 'berlin' }, after: first.next });
  expect([...first.runs, ...rest].map(({ labels }) => labels)).toEqual([
    { shop: 'berlin' },
    { shop: 'berlin' },
  ]);
  expect(next).toBeUndefined();
  const since = new Date(Date.now() + 60_000);
  expect(await runtime.runs.list({ pipeline: 'lost', status: 'failed' })).toHaveLength(3);
  expect(await runtime.runs.list({ since })).toEqual([]);
  const [newest] = await runtime.runs.list({ limit: 1 });
  expect((await runtime.runs.show(newest?.run_id ?? '')).labels).toEqual({ shop: 'berlin' });
  expect((await faultOf(runtime.runs.page({ after: 'x' }))).code).toBe('USAGE');
});

test('a run gives its id before its first step, and its events in order [DS-RUNS-04]', async () => {
  const { runtime, calls, at } = await desk();
  const run = runtime.run(at('count.yaml'));
  const id = await run.id;
  expect(calls()).toBe(0);
  expect((await runtime.runs.show(id)).status).toBe('running');
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  expect(typesOf(events)).toEqual(['run.started', 'step.started one', 'step.finished one', 'run.finished']);
  expect(await run).toMatchObject({ run_id: id, status: 'completed' });
  const paused: RunEvent[] = [];
  for await (const event of runtime.run(at('pay.yaml'))) paused.push(event);
  expect(typesOf(paused)).toContain('pending.opened pay/call');
});

test('a reader that stops, comes late or comes twice does not affect the run [DS-RUNS-05]', async () => {
  const { runtime, at } = await desk();
  const left = runtime.run(at('count.yaml'));
  for await (const _ of left) break;
  expect((await left).status).toBe('completed');
  const late = runtime.run(at('count.yaml'));
  await late;
  const events: RunEvent[] = [];
  for await (const event of late) events.push(event);
  expect(events).toHaveLength(4);
  expect(() => late[Symbol.asyncIterator]()).toThrow('one reader');
});

test('a run that fails to begin rejects its id, its document and its events [DS-RUNS-05]', async () => {
  const { runtime, at } = await desk();
  const run = runtime.run(at('none.yaml'));
  const read = async () => {
    for await (const _ of run) throw new Error('nothing happened');
  };
  const ends = [run.id, read(), run].map(async (end) => (await faultOf(Promise.resolve(end))).code);
  expect(await Promise.all(ends)).toEqual(Array(3).fill('FILE_UNREADABLE'));
});

test('a slow reader keeps the newest events, and lost ones are counted [DS-RUNS-05]', async () => {
  const queue = openEventQueue((event) => event);
  const text = (size: number) => ({ type: 'text', run: 'r', step: 's', text: 'x'.repeat(size) }) as const;
  for (let count = 0; count < 5_000; count += 1) queue.push(text(1));
  queue.end();
  const few: RunEvent[] = [];
  for await (const event of queue.reader) few.push(event);
  expect([few[0], few.length]).toEqual([{ type: 'events.dropped', run: 'r', count: 4_000 }, 1_001]);
  const large = openEventQueue((event) => event);
  for (let count = 0; count < 10; count += 1) large.push(text(400_000));
  const next = large.reader.next();
  expect((await next).value).toEqual({ type: 'events.dropped', run: 'r', count: 8 });
  const read = [await large.reader.next(), await large.reader.next()];
  expect(read.map(({ done }) => done)).toEqual([false, false]);
  const waiting = large.reader.next();
  await sleep(1);
  await large.reader.return?.();
  expect((await waiting).done).toBe(true);
});

test('secrets in a run’s events are hidden from its reader too [DS-RUNS-04]', async () => {
  const file = write(`tools:\n  lost: {exec: {command: ./lost.sh, env: ["API_KEY=hunter2hunter2"]}}`, {
    'lost.sh': '#!/bin/sh\necho "$API_KEY" >&2\nexit 3\n',
    'lost.yaml': files['lost.yaml'],
  });
  const { chmodSync } = await import('node:fs');
  chmodSync(file.replace('runtime.yaml', 'lost.sh'), 0o755);
  await using runtime = await openRuntime(file, { log: false });
  const events: RunEvent[] = [];
  for await (const event of runtime.run(file.replace('runtime.yaml', 'lost.yaml'))) events.push(event);
  expect(JSON.stringify(events)).toContain('PROCESS_EXIT');
  expect(JSON.stringify(events)).not.toContain('hunter2hunter2');
});
