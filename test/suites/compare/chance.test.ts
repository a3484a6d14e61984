import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mcNemarPValue,
  newPairedScores,
  studentPValue,
  studentQuantile95,
} from '../../../src/suites/compare/pair-tally.ts';

/** Within a relative error of 1e-9, also for tiny values. */
function near(value: number) {
  return expect.closeTo(value, Math.min(300, 9 - Math.floor(Math.log10(Math.abs(value) || 1))));
}

function comparePaired(a: readonly number[], b: readonly number[]) {
  const scores = newPairedScores();
  for (const [index, score] of a.entries()) scores.add(score, b[index] ?? Number.NaN);
  return scores.difference();
}

describe('McNemar’s exact test (reference: scipy 1.17, binomtest)', () => {
  test.each([
    { oneWay: 0, otherWay: 0, p: 1 },
    { oneWay: 1, otherWay: 0, p: 1 },
    { oneWay: 0, otherWay: 5, p: 0.0625 },
    { oneWay: 3, otherWay: 10, p: 0.09228515625 },
    { oneWay: 10, otherWay: 10, p: 1 },
    { oneWay: 150, otherWay: 606, p: 9.46792798675807e-66 },
    { oneWay: 43, otherWay: 499, p: 1.6569333623969997e-99 },
    { oneWay: 6000, otherWay: 6200, p: 0.0715943516139632 },
    { oneWay: 0, otherWay: 1200, p: 0 },
  ])('$oneWay against $otherWay', ({ oneWay, otherWay, p }) => {
    expect(mcNemarPValue(oneWay, otherWay)).toEqual(near(p));
    expect(mcNemarPValue(otherWay, oneWay)).toBe(mcNemarPValue(oneWay, otherWay));
  });

  test('tens of thousands of changes are handled', () => {
    expect(mcNemarPValue(500_000, 500_001)).toBe(1);
    expect(mcNemarPValue(499_000, 501_000)).toBeCloseTo(0.0456082998653896, 9);
  });
});

describe('Student’s t (reference: scipy 1.17)', () => {
  test.each([
    { t: 2, freedom: 3, p: 0.13932596855884305 },
    { t: -2, freedom: 3, p: 0.13932596855884305 },
    { t: 1.96, freedom: 1000, p: 0.050273184955748736 },
    { t: 0.5, freedom: 1, p: 0.7048327646991335 },
    { t: 10, freedom: 30, p: 4.575251408229618e-11 },
    { t: 40, freedom: 50, p: 1.2412423784372691e-39 },
    { t: 0, freedom: 5, p: 1 },
    { t: 23.250636372257876, freedom: 1318, p: 1.7426176197170423e-100 },
  ])('p of $t with $freedom degrees of freedom', ({ t, freedom, p }) => {
    expect(studentPValue(t, freedom)).toEqual(near(p));
  });

  test.each([
    { freedom: 1, t: 12.706204736174694 },
    { freedom: 2, t: 4.302652729749462 },
    { freedom: 30, t: 2.0422724563012378 },
    { freedom: 1000, t: 1.9623390808264083 },
    { freedom: 100_000, t: 1.9599877075346095 },
  ])('95 % with $freedom degrees of freedom lie within $t', ({ freedom, t }) => {
    expect(studentQuantile95(freedom)).toBeCloseTo(t, 8);
  });
});

describe('paired scores', () => {
  const zeros = (count: number) => Array<number>(count).fill(0);

  test('of no pair have no result', () => {
    expect(comparePaired([], [])).toBeNull();
  });

  test('of one pair have a difference and no error', () => {
    expect(comparePaired([0.25], [0.75])).toEqual({
      ...{ pairs: 1, ties: 0, mean_a: 0.25, mean_b: 0.75, difference: 0.5 },
      ...{ stderr: null, ci95: null, p_value: null, test: 'sign_flip' },
    });
  });

  test.each([
    { b: [0.1, 0.2, -0.05, 0.3, 0.15], p: 0.125 },
    { b: [1, 0, -1, 1, 1, 0, 0, 1], p: 0.375 },
    { b: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], p: 2 / 64 },
    { b: [0, 0, 0], p: 1 },
  ])('with few differences are tested by all sign combinations: p of $b is $p', ({ b, p }) => {
    expect(comparePaired(zeros(b.length), b)).toMatchObject({ p_value: p, test: 'sign_flip' });
  });

  test('with many differences are tested by Student’s t (reference: scipy 1.17, ttest_1samp)', () => {
    const differences = Array.from({ length: 40 }, (_none, i) => ((i * 37) % 101) / 101 - 0.45);
    expect(comparePaired(zeros(40), differences)).toEqual({
      ...{
        pairs: 40,
        ties: 0,
        mean_a: 0,
        mean_b: near(0.04356435643564358),
        difference: near(0.04356435643564358),
      },
      ci95: [near(-0.0509951118751469), near(0.138123824746434)],
      stderr: near(0.04356435643564358 / 0.9318710201500353),
      ...{ p_value: near(0.3571364306177705), test: 'paired_t' },
    });
  });

  test('of one size are tested by their signs only, and never with certainty', () => {
    expect(comparePaired(zeros(20), Array<number>(20).fill(0.5))).toMatchObject({
      ...{ stderr: 0, ci95: [0.5, 0.5], p_value: 2 ** -19, test: 'sign_flip' },
    });
  });

  test('property: of 0 and 1 have the p of their verdicts when there are few', () => {
    const pairs = fc.array(fc.tuple(fc.constantFrom(0, 1), fc.constantFrom(0, 1)), {
      minLength: 2,
      maxLength: 16,
    });
    fc.assert(
      fc.property(pairs, (given) => {
        const [a, b] = [given.map(([one]) => one), given.map(([, other]) => other)];
        const count = (from: number) => given.filter(([one, other]) => one === from && other !== from).length;
        expect(comparePaired(a, b)?.p_value).toBeCloseTo(mcNemarPValue(count(1), count(0)), 10);
      }),
      { numRuns: 30 },
    );
  });

  test('property: give the same result with the sides swapped', () => {
    const pairs = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        minLength: 2,
        maxLength: 10,
      },
    );
    fc.assert(
      fc.property(pairs, (given) => {
        const [a, b] = [given.map(([one]) => one), given.map(([, other]) => other)];
        const [there, back] = [comparePaired(a, b), comparePaired(b, a)];
        expect([back?.difference, back?.p_value]).toEqual([
          expect.closeTo(-(there?.difference ?? 2), 12),
          there?.p_value,
        ]);
      }),
      { numRuns: 30 },
    );
  });
});
