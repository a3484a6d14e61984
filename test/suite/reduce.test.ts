import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scored, unscored } from '../../src/contract/eval.ts';
import { newExactSum } from '../../src/suite/exact-sum.ts';
import { judgeGates } from '../../src/suite/gates.ts';
import type { EvalStats, Gate, Stats, Verdict } from '../../src/suite/model.ts';
import { newReducer } from '../../src/suite/reduce.ts';

/** The true sum of doubles of at least 2^-100 or 0, rounded once. */
function trueSum(numbers: readonly number[]): number {
  const scale = 2 ** 160;
  const sum = numbers.map((number) => BigInt(number * scale)).reduce((a, b) => a + b, 0n);
  return Number(sum) / scale;
}

const score = fc.double({ min: 0, max: 1, noNaN: true }).map((number) => (number < 2 ** -100 ? 0 : number));

describe('the exact sum', () => {
  test.each([
    { title: 'nothing', numbers: [], sum: 0 },
    { title: 'tenths', numbers: Array<number>(10).fill(0.1), sum: 1 },
    { title: 'a number that vanishes beside a large one', numbers: [2 ** 60, 1, -(2 ** 60)], sum: 1 },
    { title: 'a tie that a tiny part settles upwards', numbers: [1, 2 ** -53, 2 ** -110], sum: 1 + 2 ** -52 },
    { title: 'a tie that goes to the even neighbour', numbers: [1, 2 ** -53], sum: 1 },
    {
      title: 'a tie that a tiny part settles downwards',
      numbers: [1 + 2 ** -52, 2 ** -53, -(2 ** -110)],
      sum: 1 + 2 ** -52,
    },
  ])('of $title', ({ numbers, sum }) => {
    const exact = newExactSum();
    for (const number of numbers) exact.add(number);
    expect(exact.value()).toBe(sum);
  });

  test('property: is the true sum in any order', () => {
    fc.assert(
      fc.property(
        fc
          .array(score, { maxLength: 200 })
          .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const exact = newExactSum();
          for (const number of shuffled) exact.add(number);
          expect(exact.value()).toBe(trueSum(all));
        },
      ),
    );
  });
});

interface Result extends Verdict {
  readonly eval: string;
  readonly tags: readonly string[];
}

const result: fc.Arbitrary<Result> = fc.record({
  eval: fc.constantFrom('a', 'b'),
  tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'constructor', '__proto__', '漢')),
  outcome: fc.oneof(
    score.map((value) => scored(value, '')),
    fc.constant(unscored('gone')),
  ),
  passed: fc.boolean(),
});

function naiveStats(results: readonly Result[]): Stats {
  const scores = results.flatMap(({ outcome }) => (outcome.status === 'scored' ? [outcome.score] : []));
  const passed = results.filter((one) => one.passed).length;
  return {
    count: results.length,
    scored: scores.length,
    unscored: results.length - scores.length,
    passed,
    pass_rate: results.length === 0 ? null : passed / results.length,
    mean: scores.length === 0 ? null : trueSum(scores) / scores.length,
  };
}

function naive(results: readonly Result[]): Record<string, EvalStats> {
  return Object.fromEntries(
    ['a', 'b'].map((id) => {
      const own = results.filter((one) => one.eval === id);
      const tags = [...new Set(own.flatMap((one) => one.tags))].sort();
      const byTag = tags.map((tag) => [tag, naiveStats(own.filter((one) => one.tags.includes(tag)))]);
      return [id, { ...naiveStats(own), tags: Object.fromEntries(byTag) }];
    }),
  );
}

test('property: the reducer equals a naive reference, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(result, { maxLength: 60 }), (results) => {
      const reducer = newReducer(['a', 'b']);
      for (const one of results) reducer.add(one.eval, one.tags, one);
      expect(JSON.stringify(reducer.stats())).toBe(JSON.stringify(naive(results)));
    }),
  );
});

test('an eval without results has neither a pass rate nor a mean', () => {
  expect(newReducer(['a']).stats()).toEqual({
    a: { count: 0, scored: 0, unscored: 0, passed: 0, pass_rate: null, mean: null, tags: {} },
  });
});

test('what could not be scored counts, and is not averaged', () => {
  const reducer = newReducer(['a']);
  reducer.add('a', [], { outcome: scored(1, ''), passed: true });
  reducer.add('a', [], { outcome: unscored('crashed'), passed: false });
  expect(reducer.stats()).toEqual({
    a: { count: 2, scored: 1, unscored: 1, passed: 1, pass_rate: 0.5, mean: 1, tags: {} },
  });
});

describe('gates', () => {
  const none = { count: 0, scored: 0, unscored: 0, passed: 0, pass_rate: null, mean: null };
  const half = { count: 4, scored: 2, unscored: 2, passed: 2, pass_rate: 0.5, mean: 0.9 };
  const stats = { a: { ...half, tags: { x: { ...half, pass_rate: 0.25 } } }, empty: { ...none, tags: {} } };
  const cases: { title: string; gate: Gate; value: number | null; passed: boolean }[] = [
    {
      title: 'a value on the minimum',
      gate: { eval: 'a', metric: 'pass_rate', min: 0.5 },
      value: 0.5,
      passed: true,
    },
    {
      title: 'a value just below the minimum',
      gate: { eval: 'a', metric: 'pass_rate', min: 0.5 + 2 ** -52 },
      value: 0.5,
      passed: false,
    },
    {
      title: 'a value on the maximum',
      gate: { eval: 'a', metric: 'mean', max: 0.9 },
      value: 0.9,
      passed: true,
    },
    {
      title: 'a value above the maximum',
      gate: { eval: 'a', metric: 'mean', max: 0.8 },
      value: 0.9,
      passed: false,
    },
    {
      title: 'a value between both bounds',
      gate: { eval: 'a', metric: 'mean', min: 0.8, max: 1 },
      value: 0.9,
      passed: true,
    },
    {
      title: 'a value below both bounds',
      gate: { eval: 'a', metric: 'pass_rate', min: 0.6, max: 1 },
      value: 0.5,
      passed: false,
    },
    { title: 'a minimum of 0', gate: { eval: 'a', metric: 'pass_rate', min: 0 }, value: 0.5, passed: true },
    {
      title: 'the cases of a tag',
      gate: { eval: 'a', metric: 'pass_rate', tag: 'x', min: 0.5 },
      value: 0.25,
      passed: false,
    },
    {
      title: 'a tag that no case has',
      gate: { eval: 'a', metric: 'mean', tag: 'z', min: 0 },
      value: null,
      passed: false,
    },
    {
      title: 'a tag named like a built-in property',
      gate: { eval: 'a', metric: 'mean', tag: 'constructor', min: 0 },
      value: null,
      passed: false,
    },
    {
      title: 'the mean of nothing',
      gate: { eval: 'empty', metric: 'mean', min: 0 },
      value: null,
      passed: false,
    },
    {
      title: 'the mean of nothing below a maximum',
      gate: { eval: 'empty', metric: 'mean', max: 1 },
      value: null,
      passed: false,
    },
  ];

  test.each(cases)('judge $title [DS-SUITE-03]', ({ gate, value, passed }) => {
    const { min = null, max = null } = gate;
    expect(judgeGates([gate], stats)).toEqual([{ ...gate, value, min, max, passed }]);
  });
});
