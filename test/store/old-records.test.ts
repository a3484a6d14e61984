import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { openRuntime, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { openAt } from './processes.ts';

const records = join(import.meta.dirname, '../fixtures/records');

/** A folder of its own with what an earlier version has left there. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'records-'));
  cpSync(records, folder, { recursive: true });
  mkdirSync(join(folder, '.signalbox'));
  for (const file of ['state.db', 'evals.db']) cpSync(join(records, file), join(folder, '.signalbox', file));
  return folder;
}

async function openIn(folder: string, options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

const run = {
  kind: 'pipeline',
  name: 'refund',
  file: '/srv/desk/refund.pipeline.yaml',
  source: 'kind: Pipeline\n',
  config: '/srv/desk/runtime.yaml',
  input: new Json('{"ticket": 9007199254740993}'),
  createdAt: 1_000,
};
const call = {
  runId: 'done',
  step: 'answer/refund[0]',
  callId: 'call-1',
  tool: 'refund',
  args: new Json('{"amount": 10.00}'),
  origin: 'tool',
  hook: null,
  reason: 'over_limit',
  message: 'Refund 10.00?',
  members: new Json('{"status": "pending", "reason": "over_limit"}'),
  previous: null,
  createdAt: 2_000,
  expiresAt: null,
};

test('runs, steps, calls and decisions of an earlier version read as they were', async () => {
  const store = await openAt(join(newFolder(), 'state.db'));
  const error = {
    code: 'PROCESS_EXIT',
    message: 'it ended with exit code 3',
    hint: 'Look.',
    details: { stderr: 'a\0b' },
  };
  expect(await store.listRuns()).toEqual([
    { ...run, id: 'gone', status: 'cancelled', output: null, error: null, updatedAt: 2_200 },
    { ...run, id: 'waiting', status: 'pending', output: null, error: null, updatedAt: 2_100 },
    {
      ...{ ...run, id: 'broken', kind: 'tool', file: null, source: '' },
      ...{ status: 'failed', output: null, error, updatedAt: 4_000 },
    },
    { ...run, id: 'done', status: 'completed', output: new Json('[1.0]'), error: null, updatedAt: 4_000 },
  ]);
  expect(await store.listSteps('done')).toEqual([
    {
      ...{ step: 'fetch', attempts: 2, beganAt: 1_100, endedAt: 1_200 },
      outcome: new Json('{"order": 9007199254740993}'),
    },
  ]);
  const ruling = { by: 'signalbox', kind: 'cancelled', reason: 'the run is cancelled' };
  expect(await store.listPendings({}, 5_000)).toEqual([
    {
      ...{ ...call, id: 'p1', decidedAt: 3_000 },
      ruling: { kind: 'approved', args: new Json('{"amount": 5.00}'), by: 'ann', reason: 'fine' },
    },
    {
      ...{ ...call, id: 'p2', origin: 'hook', hook: 'guard', previous: 'p1', decidedAt: 3_100 },
      ruling: { kind: 'rejected', by: 'bob', reason: 'no' },
    },
    {
      ...{ ...call, id: 'p3', decidedAt: 3_200 },
      ruling: { kind: 'responded', result: new Json('{"paid": 1.0}'), by: 'cy', reason: '' },
    },
    { ...call, id: 'p4', expiresAt: 3_300, ruling: { kind: 'expired' }, decidedAt: 3_300 },
    {
      ...{ ...call, id: 'p5', runId: 'waiting', origin: 'approval', expiresAt: 9_000_000_000_000 },
      ...{ ruling: null, decidedAt: null },
    },
    { ...call, id: 'p6', runId: 'gone', origin: 'interrupted', ruling, decidedAt: 2_200 },
  ]);
  expect((await store.listHistory('done')).map(({ what, subject }) => `${subject} ${what}`)).toEqual([
    'fetch began',
    'fetch ended',
    ...['p1 pending', 'p1 decided', 'p2 pending', 'p2 decided', 'p3 pending', 'p3 decided'],
    ...['p4 pending', 'p4 decided'],
  ]);
});

test('the results of an earlier version read as they were', async () => {
  const { evals } = await openIn(newFolder());
  const runs = [];
  for (const { id, status } of await evals.runs.list()) {
    const { header, report, cases } = await evals.runs.open(id);
    const scores = [];
    for await (const { id: caseId, epochs } of cases()) {
      scores.push([caseId, epochs.map(({ results }) => results.map(({ score }) => score))]);
    }
    runs.push({ status, evals: header.evals.map((each) => each.id), mean: report?.overall.mean, scores });
  }
  const scores = ['one', 'two'].map((id) => [id, Array.from({ length: 2 }, () => [0.5, null, null])]);
  const ids = ['half', 'failing', 'slow'];
  expect(runs).toEqual([
    { status: 'running', evals: ids, mean: undefined, scores: [] },
    { status: 'failed', evals: ids, mean: 0.5, scores },
    { status: 'failed', evals: ids, mean: 0.5, scores },
  ]);
});

test('a recording of an earlier version answers a whole run of a suite', async () => {
  const folder = newFolder();
  const started: string[] = [];
  const runtime = await openIn(folder, {
    cassette: { replay: join(folder, 'desk.cassette') },
    onEvent: (event) => void (event.type === 'process.started' && started.push(event.name)),
  });
  const report = await runtime.evals.run(join(folder, 'desk.suite.yaml'), { epochs: 2, keep: false });
  expect(report).toMatchObject({ status: 'error', cases: 2, overall: { mean: 0.5 }, problem_count: 0 });
  expect(started).toEqual([]);
});

test('a run that was cut off under an earlier version goes on, with the answers that were kept then', async () => {
  const folder = newFolder();
  const { evals } = await openIn(folder);
  const id = 'd743b29a-1aec-4276-89b4-85b5e1b379a2';
  await evals.run(join(folder, 'desk.suite.yaml'), { epochs: 2, resume: id, cache: true });
  const { report, cases } = await evals.runs.open(id);
  const cached = [];
  for await (const { epochs } of cases()) cached.push(epochs.map(({ subject }) => subject?.cached));
  expect(report).toMatchObject({ status: 'error', cases: 2, overall: { mean: 0.5 } });
  // One epoch was judged before the cut.
  expect(cached).toEqual([
    [false, true],
    [true, true],
  ]);
});
