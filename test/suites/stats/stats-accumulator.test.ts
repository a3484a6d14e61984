import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { replayReport } from '../../../src/suites/report/replay-report.ts';
import { newStatsAccumulator } from '../../../src/suites/stats/stats-accumulator.ts';
import { decided, epoch, header, record, said, source } from './records.ts';

const evals = [header('b', { role: 'metric' }), header('a')];

function reduce(records: readonly CaseRecord[], epochs = 1, headers = evals) {
  const reducer = newStatsAccumulator(headers, epochs);
  for (const each of records) reducer.add(each);
  return { overall: reducer.overall(), stats: reducer.stats() };
}

test('evals come in the order of the suite, each with its tags in alphabetical order', () => {
  const { stats, overall } = reduce([
    record('1', [[said('b', 0.2), said('a', 1)]], { evals, tags: ['y', 'constructor'] }),
    record('2', [[said('a', 0)]], { evals, tags: ['y', '__proto__'] }),
  ]);
  expect(Object.entries(stats).map(([id, { count, tags }]) => [id, count, Object.keys(tags)])).toEqual([
    ['b', 1, ['constructor', 'y']],
    ['a', 2, ['__proto__', 'constructor', 'y']],
  ]);
  expect(Object.entries(overall.tags).map(([tag, { count }]) => [tag, count])).toEqual([
    ['__proto__', 1],
    ['constructor', 1],
    ['y', 2],
  ]);
});

test('scores are counted in tenths, the highest in the last', () => {
  const records = [0, 0.1, 0.3, 0.3, 0.7, 0.99, 1].map((score) => record('x', [[said('a', score)]]));
  expect(reduce(records).stats['a']?.histogram).toEqual([1, 1, 0, 2, 0, 0, 0, 1, 0, 2]);
});

test('durations count every eval run of all epochs', () => {
  const asked = [10, 10, 500].map((duration_ms) => [said('a', 1, { duration_ms })]);
  expect(reduce([record('x', asked)], 3).stats['a']?.latency_ms).toEqual({ p50: 9.99, p99: 499 });
});

test('guard decisions are classified, by tag too', () => {
  const guard = (expected: boolean, flagged: boolean) =>
    said('a', expected === flagged ? 1 : 0, { guard: decided({ expected, flagged }) });
  const { stats } = reduce(
    [
      record('1', [[guard(true, true)], [guard(true, false)]], { tags: ['x'] }),
      record('2', [[guard(false, false)]]),
    ],
    2,
  );
  expect(stats['a']?.classification).toMatchObject({
    true_positives: 1,
    false_negatives: 1,
    true_negatives: 1,
  });
  expect(stats['a']?.tags['x']?.classification).toMatchObject({ true_positives: 1, true_negatives: 0 });
  expect(stats['b']?.classification).toBeUndefined();
});

test('a whole case is flaky by its assertions, not by its metrics', () => {
  const steady = record(
    '1',
    [
      [said('a', 1), said('b', 1)],
      [said('a', 1), said('b', 0)],
    ],
    { evals },
  );
  const wavering = record('2', [[said('a', 1)], [said('a', 0)]], { evals });
  expect(reduce([steady, wavering], 2).overall).toMatchObject({ flaky: 1, pass_hat: { 1: 0.75, 2: 0.5 } });
});

test('a case with its own threshold passes in an epoch by its weighted score', () => {
  const weighted = [header('a', { weight: 3 }), header('c')];
  const results = (a: number, c: number) =>
    epoch([said('a', a), said('c', c)], { threshold: { min_score: 0.75 } });
  const whole = { ...record('1', [[]]), epochs: [results(1, 0), results(0, 1)], results: [], passed: true };
  expect(reduce([whole], 2, weighted).overall).toMatchObject({ flaky: 1, pass_at: { 1: 0.5, 2: 1 } });
});

const anyRecord = fc
  .record({
    scores: fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 2, maxLength: 2 }),
    tags: fc.uniqueArray(fc.constantFrom('x', 'y', '漢')),
    ms: fc.integer({ min: 0, max: 1000 }),
  })
  .map(({ scores, tags, ms }) =>
    record(
      'c',
      scores.map((score) => [said('a', score, { duration_ms: ms }), said('b', score)]),
      { evals, tags },
    ),
  );

test('property: the order of cases changes no digit', () => {
  const given = fc
    .array(anyRecord, { maxLength: 40 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
  fc.assert(
    fc.property(given, ([all, other]) => {
      expect(JSON.stringify(reduce(other, 2))).toBe(JSON.stringify(reduce(all, 2)));
    }),
  );
});

test('an interrupted run is replayed with its statistics so far', async () => {
  const told: unknown[] = [];
  const tell = async (what: unknown) => {
    told.push(what);
  };
  const records = [record('1', [[said('a', 1)]]), record('2', [[said('a', null)]], { number: 2 })];
  const run = source(records, { isComplete: false });
  await replayReport(run, { begin: tell, onCase: tell, onProblem: tell, end: tell });
  const { stats, overall } = reduce(records, 1, [header('a')]);
  expect(told).toEqual([
    run.header,
    ...records,
    {
      ...{ run_id: 'run-1', suite: 'demo', status: 'error', cases: 2, epochs: 1, bailed: false },
      ...{ overall, evals: stats, gates: [], duration_ms: 0, problem_count: 1 },
      problems: [
        {
          ...{ scope: 'run', file: 'demo.suite.yaml', line: 1, column: 1 },
          message: 'the run did not finish: these are the cases that were done',
          hint: 'Continue it: signalbox eval run SUITE --resume.',
        },
      ],
      failures: [{ case: '2', file: 'rows.jsonl', line: 2, eval: 'a', score: null, detail: 'no score' }],
      failure_count: 1,
    },
  ]);
});
