import { describe, expect, test } from 'vitest';
import { compare, exact, share, subtract, toDouble } from '../../../src/base/json/decimal.ts';
import { readReduction } from '../../../src/suites/file/model.ts';
import type { EvalResult } from '../../../src/suites/record.ts';
import {
  findReductionProblem,
  passAt,
  reduceCase,
  reduceEpochs,
} from '../../../src/suites/stats/epoch-reduction.ts';
import { newEpochTable } from '../../../src/suites/stats/tally.ts';
import { epoch, said } from './records.ts';

function reduction(name: string) {
  const read = readReduction(name);
  if (read === undefined) throw new Error(`there is no reducer ${name}`);
  return read;
}

function results(scores: readonly (number | null)[], more: Partial<EvalResult> = {}): EvalResult[] {
  return scores.map((score) => said('a', score, more));
}

describe('the epochs of a case become one score', () => {
  const cases: {
    title: string;
    reducer: string;
    scores: (number | null)[];
    score: number | null;
    passed: boolean;
  }[] = [
    { title: 'the mean', reducer: 'mean', scores: [0.2, 0.9, 0.7], score: 0.6, passed: true },
    { title: 'a mean below the threshold', reducer: 'mean', scores: [1, 0.2, 0], score: 0.4, passed: false },
    { title: 'no mean with one unscored', reducer: 'mean', scores: [1, null, 1], score: null, passed: false },
    { title: 'the middle of three', reducer: 'median', scores: [1, 0.1, 0.6], score: 0.6, passed: true },
    { title: 'half-way between two', reducer: 'median', scores: [1, 0.5, 0, 0], score: 0.25, passed: false },
    {
      title: 'no median with one unscored',
      reducer: 'median',
      scores: [1, 1, null],
      score: null,
      passed: false,
    },
    { title: 'the commonest', reducer: 'mode', scores: [0.1, 0.7, 0.7], score: 0.7, passed: true },
    {
      title: 'the lowest of two as common',
      reducer: 'mode',
      scores: [1, 1, 0, 0, 0.5],
      score: 0,
      passed: false,
    },
    { title: 'no mode with one unscored', reducer: 'mode', scores: [1, 1, null], score: null, passed: false },
    { title: 'the best', reducer: 'max', scores: [0.1, 0.8, 0.3], score: 0.8, passed: true },
    {
      title: 'the best of the scored ones',
      reducer: 'max',
      scores: [null, 0.8, null],
      score: 0.8,
      passed: true,
    },
    { title: 'no best of nothing', reducer: 'max', scores: [null, null], score: null, passed: false },
    {
      title: 'pass@1 as the share that passed',
      reducer: 'pass@1',
      scores: [1, 0, 0, 1],
      score: 0.5,
      passed: true,
    },
    { title: 'pass@2 of one in four', reducer: 'pass@2', scores: [1, 0, 0, 0], score: 0.5, passed: true },
    { title: 'pass@2 of none in three', reducer: 'pass@2', scores: [0, 0, 0], score: 0, passed: false },
    {
      title: 'pass@2 with an unscored one as not passed',
      reducer: 'pass@2',
      scores: [1, null, 0, 0],
      score: 0.5,
      passed: true,
    },
    {
      title: 'pass@3 of fewer epochs than that',
      reducer: 'pass@3',
      scores: [1, 1],
      score: null,
      passed: false,
    },
    { title: 'at least two of three', reducer: 'at_least_2', scores: [1, 0, 0.5], score: 1, passed: true },
    {
      title: 'fewer than two of three',
      reducer: 'at_least_2',
      scores: [1, 0, null],
      score: 0,
      passed: false,
    },
  ];
  test.each(cases)('$title', ({ reducer, scores, score, passed }) => {
    const reduced = reduceEpochs(reduction(reducer), results(scores));
    const passedEpochs = scores.filter((each) => each !== null && each >= 0.5).length;
    expect(reduced).toMatchObject({
      score: score === null ? null : expect.closeTo(score, 12),
      passed,
      passed_epochs: passedEpochs,
    });
  });

  test.each([
    { scores: [1, 0.2, 0.1], detail: '1 of 3 epochs passed: said 0.2' },
    { scores: [1, null], detail: '1 of 2 epochs passed: no score' },
    { scores: [0.6, 1], detail: '2 of 2 epochs passed: said 0.6' },
  ])('the detail comes from the first epoch that did not pass: $detail', ({ scores, detail }) => {
    expect(reduceEpochs(reduction('mean'), results(scores)).detail).toBe(detail);
  });

  test('a reduced score keeps the bounds of all epochs', () => {
    const strict = said('a', 0.9, { threshold: { min_score: 0.85 } });
    expect(reduceEpochs(reduction('mean'), [strict, said('a', 0.7)])).toMatchObject({ passed: false });
    expect(reduceEpochs(reduction('max'), [strict, said('a', 0.7)])).toMatchObject({ passed: true });
  });

  test.each(['mean', 'median', 'mode', 'max', 'pass@1', 'at_least_1'])(
    'one epoch is unchanged under %s',
    (name) => {
      const only = said('a', 0.3, { passed: true, detail: 'by its own bounds' });
      expect(reduceEpochs(reduction(name), [only])).toEqual({
        score: 0.3,
        passed: true,
        passed_epochs: 1,
        detail: 'by its own bounds',
      });
    },
  );
});

test('a case has results in the order of the suite, and none of an eval that never judged it', () => {
  const mean = reduction('mean');
  const evals = ['b', 'a', 'never'].map((id) => ({ id, reducer: mean }));
  const epochs = [epoch([said('a', 1), said('b', 0)]), epoch([said('b', 1)], { epoch: 2 })];
  expect(reduceCase(evals, epochs)).toEqual([
    { eval: 'b', score: 0.5, passed: true, passed_epochs: 1, detail: '1 of 2 epochs passed: said 0' },
    { eval: 'a', score: 1, passed: true, passed_epochs: 1, detail: 'said 1' },
  ]);
});

test.each([
  {
    name: 'pass@3',
    epochs: 2,
    problem: 'pass@3 needs at least 3 epochs, but the suite runs each case 2 times',
  },
  {
    name: 'at_least_2',
    epochs: 1,
    problem: 'at_least_2 needs at least 2 epochs, but the suite runs each case once',
  },
  { name: 'pass@3', epochs: 3, problem: undefined },
  { name: 'mean', epochs: 1, problem: undefined },
])('$name with $epochs epochs: $problem', ({ name, epochs, problem }) => {
  expect(findReductionProblem(reduction(name), epochs)).toBe(problem);
});

function choose(n: number, k: number): number {
  return k < 0 || k > n ? 0 : k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k;
}

/** The chances that one of k drawn epochs passes, and that all pass. */
function chancesOf({ n, c, k }: { readonly n: number; readonly c: number; readonly k: number }) {
  const table = newEpochTable();
  table.add(n, c);
  return [table.passAt(k)[k] ?? exact(9), table.passHat(k)[k] ?? exact(9)] as const;
}

test('chances over epochs equal drawing without replacement, to the last digit', () => {
  for (let n = 1; n <= 12; n++) {
    for (let c = 0; c <= n; c++) {
      for (let k = 1; k <= n; k++) {
        const [any, all] = chancesOf({ n, c, k });
        expect(compare(any, subtract(exact(1), share(choose(n - c, k), choose(n, k))))).toBe(0);
        expect(compare(all, share(choose(c, k), choose(n, k)))).toBe(0);
        expect(compare(passAt(n, c, k), any)).toBe(0);
      }
    }
  }
});

test('chances over many epochs do not overflow', () => {
  const [any, all] = chancesOf({ n: 9999, c: 5000, k: 2 });
  expect(toDouble(any)).toBeCloseTo(0.75, 3);
  expect(toDouble(all)).toBeCloseTo(0.25, 3);
});
