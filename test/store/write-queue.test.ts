import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import type { Answer, Change } from '../../src/store/sqlite/write/change.ts';
import { createWriteQueue } from '../../src/store/sqlite/write/write-queue.ts';
import { faultOf } from './examples.ts';

function end(runId: string, step: string): Change {
  return { what: 'end_step', runId, step: { step, outcome: { text: '{}', parts: null }, at: 1 } };
}

function stepOf(change: Change): string {
  return change.what === 'end_step' ? `${change.runId}/${change.step.step}` : change.what;
}

function openQueue(commit: (steps: readonly string[]) => readonly Answer[]) {
  const commits: string[][] = [];
  const queue = createWriteQueue(async (changes) => {
    const steps = changes.map(stepOf);
    commits.push(steps);
    return commit(steps);
  });
  return { queue, commits };
}

const keepAll = (steps: readonly string[]) => steps.map((step): Answer => ({ row: { step } }));
const full = new RuntimeError('STORE_FAILED', 'the disk is full');

test('concurrent writes of several runs are one commit, and each gets its own answer', async () => {
  const { queue, commits } = openQueue(keepAll);
  const rows = await Promise.all(['a', 'b', 'c'].map((run) => queue.change(end(run, '1'))));
  expect(rows).toEqual([{ step: 'a/1' }, { step: 'b/1' }, { step: 'c/1' }]);
  expect(commits).toEqual([['a/1', 'b/1', 'c/1']]);
});

test('no write is acknowledged before the commit', async () => {
  const { promise: disk, resolve: sync } = Promise.withResolvers<void>();
  const queue = createWriteQueue(async (changes) => {
    await disk;
    return changes.map(() => ({ row: {} }));
  });
  let isAnswered = false;
  const answer = queue.change(end('a', '1')).then(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(isAnswered).toBe(false);
  sync();
  await answer;
});

test('changes and work keep their order', async () => {
  const { queue, commits } = openQueue(keepAll);
  const seen: number[] = [];
  await Promise.all([
    queue.change(end('a', '1')),
    queue.run(() => seen.push(commits.length)),
    queue.change(end('a', '2')),
    queue.change(end('a', '3')),
    queue.run(() => seen.push(commits.length)),
  ]);
  expect(commits).toEqual([['a/1'], ['a/2', 'a/3']]);
  expect(seen).toEqual([1, 2]);
});

test('a failed commit fails only the faulty run, with its later writes', async () => {
  const { queue, commits } = openQueue((steps) => {
    if (steps.includes('b/1')) throw full;
    return keepAll(steps);
  });
  const changes = [end('a', '1'), end('b', '1'), end('b', '2'), end('c', '1')];
  const settled = await Promise.allSettled(changes.map((change) => queue.change(change)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  // Changes that depend on the failed one were not tried.
  expect(commits).toEqual([['a/1', 'b/1', 'b/2', 'c/1'], ['a/1'], ['b/1'], ['c/1']]);
  expect(await queue.change(end('b', '3'))).toEqual({ step: 'b/3' });
});

test('requests of a run during its failing change are not made either', async () => {
  let later: Promise<unknown> | undefined;
  const queue = createWriteQueue(async (changes) => {
    later ??= faultOf(queue.change(end('a', '2')));
    await new Promise((resolve) => setImmediate(resolve));
    if (changes.map(stepOf).includes('a/1')) throw full;
    return changes.map(() => ({ row: {} }));
  });
  expect(await faultOf(queue.change(end('a', '1')))).toMatchObject({ code: 'STORE_FAILED' });
  expect(await later).toMatchObject({ code: 'STORE_FAILED' });
});

test('a refusal affects only its caller', async () => {
  const { queue, commits } = openQueue((steps) =>
    steps.map((step) =>
      step === 'a/1' ? { refusal: { code: 'RUN_UNKNOWN', message: 'no', hint: '' } } : { row: { step } },
    ),
  );
  const [refused, kept] = await Promise.allSettled([
    queue.change(end('a', '1')),
    queue.change(end('a', '2')),
  ]);
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'RUN_UNKNOWN' } });
  expect(kept).toMatchObject({ status: 'fulfilled', value: { step: 'a/2' } });
  expect(commits).toHaveLength(1);
});

test('long data is stored in several commits', async () => {
  const { queue, commits } = openQueue(keepAll);
  const outcome = { text: 'x'.repeat(3_000_000), parts: null };
  const long = (step: string): Change => ({
    what: 'end_step',
    runId: 'a',
    step: { step, outcome, at: 1 },
  });
  await Promise.all(['1', '2', '3'].map((step) => queue.change(long(step))));
  expect(commits).toEqual([['a/1', 'a/2'], ['a/3']]);
});
