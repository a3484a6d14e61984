import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isScoreWithin } from '../../../src/calls/capability/eval.ts';
import { newPairTally } from '../../../src/suites/compare/pair-tally.ts';
import type { Gate } from '../../../src/suites/file/model.ts';
import { judgeGates } from '../../../src/suites/run/gates.ts';
import { meanOf, medianOf, weightedMean } from '../../../src/suites/stats/epoch-reduction.ts';
import { newTally } from '../../../src/suites/stats/tally.ts';

function passes(scores: readonly number[], gate: Gate, passed: readonly boolean[] = []): boolean {
  const tally = newTally(1);
  for (const [at, score] of scores.entries()) {
    const isPassed = passed[at] ?? true;
    tally.add({ score, passed: isPassed, epochs: 1, passedEpochs: isPassed ? 1 : 0 });
  }
  const judged = { overall: { ...tally.stats(), tags: {} }, evals: {}, exactly: tally.exactly };
  return judgeGates([gate], judged)[0]?.passed === true;
}

const percent = fc.integer({ min: 0, max: 100 }).map((n) => n / 100);
const score = fc.oneof(percent, fc.double({ min: 0, max: 1, noNaN: true }));

describe('inclusive bounds', () => {
  test('property: equal scores meet a bound of that score on both sides, whatever their number [DS-SUITE-03]', () => {
    fc.assert(
      fc.property(score, fc.integer({ min: 1, max: 300 }), (each, count) => {
        const scores = Array<number>(count).fill(each);
        for (const metric of ['mean', 'median', 'p10'])
          expect(passes(scores, { metric, min: each, max: each })).toBe(true);
        for (const value of [meanOf(scores), medianOf(scores)])
          expect(isScoreWithin(value, { min_score: each, max_score: each })).toBe(true);
        expect(passes(scores, { metric: 'stderr', max: 0 })).toBe(count > 1);
      }),
    );
  });

  test('property: a mean of scores in percent meets exactly the bounds computed with integers [DS-SUITE-03]', () => {
    fc.assert(
      fc.property(fc.array(percent, { minLength: 1, maxLength: 40 }), percent, (scores, bound) => {
        const sum = scores.reduce((all, each) => all + Math.round(each * 100), 0);
        const side = sum - Math.round(bound * 100) * scores.length;
        expect(passes(scores, { metric: 'mean', min: bound })).toBe(side >= 0);
        expect(passes(scores, { metric: 'mean', max: bound })).toBe(side <= 0);
        expect(isScoreWithin(meanOf(scores), { min_score: bound })).toBe(side >= 0);
      }),
    );
  });

  test('property: weights and scores in percent do so too', () => {
    const weighted = fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), percent), {
      minLength: 1,
      maxLength: 9,
    });
    fc.assert(
      fc.property(weighted, percent, (parts, bound) => {
        const mean = weightedMean(parts.map(([weight, each]) => ({ weight: weight / 100, score: each })));
        const [sum, weights] = parts.reduce(
          ([all, most], [weight, each]) => [all + weight * Math.round(each * 100), most + weight],
          [0, 0],
        );
        const side = (sum ?? 0) - Math.round(bound * 100) * (weights ?? 0);
        expect(mean !== null && isScoreWithin(mean, { min_score: bound })).toBe(side >= 0);
        expect(mean !== null && isScoreWithin(mean, { max_score: bound })).toBe(side <= 0);
      }),
    );
  });

  test('property: a pass rate meets the bounds computed with integers', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), percent, (passed, bound) => {
        const side = passed.filter(Boolean).length * 100 - Math.round(bound * 100) * passed.length;
        const scores = passed.map(Number);
        expect(passes(scores, { metric: 'pass_rate', min: bound }, passed)).toBe(side >= 0);
        expect(passes(scores, { metric: 'pass_rate', max: bound }, passed)).toBe(side <= 0);
      }),
    );
  });

  test('a mean below the bound that rounds to it does not meet it', () => {
    expect(passes([0.7, 0.7, 0.6999999999999998], { metric: 'mean', min: 0.7 })).toBe(false);
    expect(passes([0.7, 0.7, 0.7000000000000001], { metric: 'mean', max: 0.7 })).toBe(false);
  });

  test('a standard error of 0.1 meets 0.1', () => {
    expect(passes([0.4, 0.6], { metric: 'stderr', min: 0.1, max: 0.1 })).toBe(true);
  });

  test('differences that are equal as decimals are of equal size to the exact test', () => {
    const tally = newPairTally();
    const pair = { passed: true, isFlaky: false, decisions: [], answers: [] } as const;
    // Four differences of 0.1, each a different double.
    for (const [a, b] of [
      [0.1, 0.2],
      [0.2, 0.3],
      [0.7, 0.8],
      [0.8, 0.7],
    ] as const)
      tally.add({ ...pair, score: a }, { ...pair, score: b });
    const { score: difference } = tally.difference();
    // Of 16 combinations of signs, 10 have a sum at least as far from 0 as 0.2.
    expect([difference?.difference, difference?.p_value]).toEqual([0.05, 10 / 16]);
  });
});
