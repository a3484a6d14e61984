import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toDouble } from '../../../src/base/json/decimal.ts';
import { coarse, fine, newDistribution, newLatencySketch } from '../../../src/suites/stats/distribution.ts';
import { meanInterval, newTally, type TallyInput, wilsonInterval } from '../../../src/suites/stats/tally.ts';

function tallyOf(results: readonly TallyInput[], epochs = 1) {
  const tally = newTally(epochs);
  for (const result of results) tally.add(result);
  return tally.stats();
}

function once(score: number | null): TallyInput {
  const passed = score !== null && score >= 0.5;
  return { score, passed, epochs: 1, passedEpochs: passed ? 1 : 0 };
}

test('statistics of no scores are empty', () => {
  expect(tallyOf([], 2)).toEqual({
    ...{ count: 0, scored: 0, unscored: 0, unscored_share: null, faults: 0 },
    ...{ passed: 0, pass_rate: null, pass_rate_ci95: null },
    ...{ mean: null, stderr: null, ci95: null, median: null, p10: null, flaky: 0 },
    ...{ pass_at: {}, pass_hat: {} },
  });
});

test('unscored results count, and are not averaged', () => {
  expect(tallyOf([0.1, 0.5, 0.9, 0.4, null].map(once))).toEqual({
    ...{ count: 5, scored: 4, unscored: 1, unscored_share: 0.2, faults: 0 },
    ...{ passed: 2, pass_rate: 0.4 },
    pass_rate_ci95: [expect.closeTo(0.117621, 6), expect.closeTo(0.769276, 6)],
    ...{ mean: expect.closeTo(0.475, 15), stderr: expect.closeTo(0.165201896679991, 12) },
    ci95: [expect.closeTo(0.151210232, 8), expect.closeTo(0.798789768, 8)],
    ...{ median: 0.45, p10: 0.1, flaky: 0 },
  });
});

test('a single case has a mean and no error', () => {
  expect(tallyOf([once(0.3)])).toMatchObject({ mean: 0.3, stderr: null, ci95: null, median: 0.3, p10: 0.3 });
});

test('equal scores have an error of zero', () => {
  expect(tallyOf(Array<TallyInput>(1000).fill(once(0.1)))).toMatchObject({ stderr: 0, ci95: [0.1, 0.1] });
});

test('cases over epochs: flaky ones, and the chances of k epochs', () => {
  const cases = [3, 2, 0].map((passedEpochs) => ({
    score: passedEpochs / 3,
    passed: true,
    epochs: 3,
    passedEpochs,
  }));
  expect(tallyOf(cases, 3)).toMatchObject({
    flaky: 1,
    pass_at: { 1: expect.closeTo(5 / 9, 12), 2: expect.closeTo(2 / 3, 12), 3: expect.closeTo(2 / 3, 12) },
    pass_hat: { 1: expect.closeTo(5 / 9, 12), 2: expect.closeTo(4 / 9, 12), 3: expect.closeTo(1 / 3, 12) },
  });
});

test('a case with fewer epochs does not count for the chances of more', () => {
  const full = { score: 1, passed: true, epochs: 2, passedEpochs: 2 };
  const short = { score: 0, passed: false, epochs: 1, passedEpochs: 0 };
  expect(tallyOf([full, short], 3)).toMatchObject({ pass_at: { 1: 0.5, 2: 1 }, pass_hat: { 1: 0.5, 2: 1 } });
});

describe('the interval of a share (reference: scipy 1.17)', () => {
  test.each([
    { passed: 0, count: 10, low: 0, high: 0.27753279986288926 },
    { passed: 10, count: 10, low: 0.7224672001371109, high: 1 },
    { passed: 5, count: 10, low: 0.236593090512564, high: 0.7634069094874361 },
    { passed: 742, count: 1319, low: 0.5356326528399583, high: 0.5890988475978164 },
    { passed: 1, count: 1, low: 0.20654931437723745, high: 1 },
  ])('$passed of $count', ({ passed, count, low, high }) => {
    expect(wilsonInterval(passed, count)).toEqual([expect.closeTo(low, 12), expect.closeTo(high, 12)]);
  });

  test('begins at exactly 0 if none passed, and ends at 1 if all did', () => {
    for (let count = 1; count < 300; count++) {
      expect([wilsonInterval(0, count)?.[0], wilsonInterval(count, count)?.[1]]).toEqual([0, 1]);
    }
  });

  test('the interval of a mean stays within 0..1', () => {
    expect(meanInterval(0.99, 0.1)?.[1]).toBe(1);
    expect(meanInterval(0.01, 0.1)?.[0]).toBe(0);
  });
});

const score = fc.oneof(fc.constantFrom(0, 0.1, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }));

/** The cluster-robust error of textbooks, over single epochs. */
function clusterError(clusters: readonly (readonly number[])[]): number {
  const all = clusters.flat();
  const mean = all.reduce((sum, each) => sum + each, 0) / all.length;
  const squares = clusters.map((cluster) => cluster.reduce((sum, each) => sum + each - mean, 0) ** 2);
  const c = clusters.length;
  return Math.sqrt((squares.reduce((sum, each) => sum + each, 0) / all.length ** 2) * (c / (c - 1)));
}

test('property: the error of means over epochs is the cluster-robust one', () => {
  const clusters = fc
    .integer({ min: 1, max: 5 })
    .chain((n) => fc.array(fc.array(score, { minLength: n, maxLength: n }), { minLength: 2, maxLength: 20 }));
  fc.assert(
    fc.property(clusters, (given) => {
      const means = given.map((cluster) => cluster.reduce((sum, each) => sum + each, 0) / cluster.length);
      expect(tallyOf(means.map(once)).stderr).toBeCloseTo(clusterError(given), 7);
    }),
  );
});

const tallied: fc.Arbitrary<TallyInput> = fc.record({
  score: fc.option(score),
  passed: fc.boolean(),
  epochs: fc.constant(3),
  passedEpochs: fc.integer({ min: 0, max: 3 }),
});

function shuffled<T>(items: fc.Arbitrary<T>) {
  return fc
    .array(items, { maxLength: 80 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
}

test('property: the order of cases changes no digit', () => {
  fc.assert(
    fc.property(shuffled(tallied), ([all, other]) => {
      expect(JSON.stringify(tallyOf(other, 3))).toBe(JSON.stringify(tallyOf(all, 3)));
    }),
  );
});

describe('the distribution of scores', () => {
  const sorted = (scores: readonly number[]) => scores.toSorted((a, b) => a - b);
  const naiveMedian = (scores: readonly number[]) => {
    const [at, all] = [(scores.length - 1) / 2, sorted(scores)];
    return ((all[Math.floor(at)] ?? 0) + (all[Math.ceil(at)] ?? 0)) / 2;
  };
  const naiveP10 = (scores: readonly number[]) => sorted(scores)[Math.ceil(scores.length / 10) - 1];

  test('property: median and p10 are exact while there are few scores', () => {
    fc.assert(
      fc.property(fc.array(score, { minLength: 1, maxLength: 60 }), (scores) => {
        const distribution = newDistribution();
        for (const each of scores) distribution.add(each);
        const median = distribution.median();
        expect(median && toDouble(median)).toBeCloseTo(naiveMedian(scores), 15);
        expect(distribution.p10()).toBe(naiveP10(scores));
      }),
    );
  });

  test.each([
    { title: 'of a run', precision: { ...fine, maxDistinct: 8 } },
    { title: 'of a tag', precision: { ...coarse, maxDistinct: 8 } },
  ])('property: many scores give approximate $title, the same in any order', ({ precision }) => {
    const step = 1 / precision.binsPerUnit;
    fc.assert(
      fc.property(shuffled(score), ([all, other]) => {
        fc.pre(all.length > 0);
        const [one, two] = [newDistribution(precision), newDistribution(precision)];
        for (const each of all) one.add(each);
        for (const each of other) two.add(each);
        expect([two.median(), two.p10()]).toEqual([one.median(), one.p10()]);
        const median = one.median();
        expect(Math.abs((median === null ? 2 : toDouble(median)) - naiveMedian(all))).toBeLessThan(step);
        expect(Math.abs((one.p10() ?? 2) - (naiveP10(all) ?? 2))).toBeLessThan(step);
      }),
    );
  });
});

describe('durations', () => {
  test('property: the median and the 99th percentile are within 1 %', () => {
    const ms = fc.oneof(fc.double({ min: 0.01, max: 1e7, noNaN: true }), fc.integer({ min: 1, max: 5000 }));
    fc.assert(
      fc.property(fc.array(ms, { minLength: 1, maxLength: 150 }), (all) => {
        const sketch = newLatencySketch();
        for (const each of all) sketch.add(each);
        const sorted = all.toSorted((a, b) => a - b);
        const p50 = sorted[Math.ceil(all.length / 2) - 1] ?? 0;
        const p99 = sorted[Math.ceil(all.length * 0.99) - 1] ?? 0;
        const told = sketch.latency();
        expect(Math.abs((told?.p50 ?? 0) - p50)).toBeLessThanOrEqual(p50 / 100);
        expect(Math.abs((told?.p99 ?? 0) - p99)).toBeLessThanOrEqual(p99 / 100);
      }),
    );
  });

  test.each([
    { title: 'none at all', ms: [], latency: null },
    { title: 'no time at all', ms: [0, 0], latency: { p50: 0, p99: 0 } },
    {
      title: 'one among many',
      ms: [...Array<number>(98).fill(10), 500, 500],
      latency: { p50: 9.99, p99: 499 },
    },
  ])('$title', ({ ms, latency }) => {
    const sketch = newLatencySketch();
    for (const each of ms) sketch.add(each);
    expect(sketch.latency()).toEqual(latency);
  });
});
