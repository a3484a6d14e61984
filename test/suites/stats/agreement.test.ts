import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureAgreement, newAgreementTally } from '../../../src/suites/stats/agreement.ts';

/** Both passed, only the eval, both failed, only the person. */
type Table = readonly [number, number, number, number];

test.each<{ source: string; table: Table; kappa: number; stderr?: number; ci95?: readonly [number, number] }>(
  [
    {
      source: 'statpsych, ci.kappa(.05, 31, 12, 4, 58), after Fleiss, Levin and Paik 2003',
      table: [31, 12, 58, 4],
      kappa: 0.6756757,
      stderr: 0.07344761,
      ci95: [0.531721, 0.8196303],
    },
    { source: 'Wikipedia, Cohen’s kappa, simple example', table: [20, 5, 15, 10], kappa: 0.4 },
    {
      source: 'Wikipedia, same percentages but different numbers, first',
      table: [45, 15, 15, 25],
      kappa: 0.1304,
    },
    {
      source: 'Wikipedia, same percentages but different numbers, second',
      table: [25, 35, 35, 5],
      kappa: 0.2593,
    },
    {
      source: 'Kaptein and van den Heuvel 2022, Statistics for Data Scientists, table 6.1',
      table: [20, 5, 65, 10],
      kappa: 0.625,
    },
  ],
)('$source [DS-AGREE-01]', ({ table, kappa, stderr, ci95 }) => {
  const found = measureAgreement(table);
  expect(found?.kappa).toBeCloseTo(kappa, 4);
  expect(found?.stderr).toBeCloseTo(stderr ?? found?.stderr ?? Number.NaN, 7);
  for (const at of [0, 1] as const) {
    expect(found?.ci95?.[at]).toBeCloseTo(ci95?.[at] ?? found?.ci95?.[at] ?? Number.NaN, 6);
  }
});

test.each<[string, Table, object]>([
  ['all passed by both', [9, 0, 0, 0], { n: 9, observed: 1, kappa: null, stderr: null, ci95: null }],
  ['one case', [0, 0, 1, 0], { n: 1, observed: 1, kappa: null, stderr: null, ci95: null }],
  ['the eval always passes, people do not', [5, 5, 0, 0], { observed: 0.5, kappa: 0 }],
  ['always the same, both verdicts', [5, 0, 5, 0], { observed: 1, kappa: 1, stderr: 0, ci95: [1, 1] }],
  ['always the other', [0, 5, 0, 5], { observed: 0, kappa: -1, stderr: 0, ci95: [-1, -1] }],
])('%s [DS-AGREE-03]', (_what, table, wanted) => {
  expect(measureAgreement(table)).toMatchObject(wanted);
});

test('an empty table has no agreement [DS-AGREE-03]', () => {
  expect(measureAgreement([0, 0, 0, 0])).toBeUndefined();
});

test('kappa lies within its interval, and tallies of parts sum to that of the whole', () => {
  const count = fc.nat(50);
  fc.assert(
    fc.property(count, count, count, count, (...table) => {
      const [whole, one, other] = [newAgreementTally(), newAgreementTally(), newAgreementTally()];
      const verdicts = [
        [true, true],
        [true, false],
        [false, false],
        [false, true],
      ] as const;
      for (const [at, [evalPassed, personPassed]] of verdicts.entries()) {
        for (let time = 0; time < (table[at] ?? 0); time++) {
          whole.add(evalPassed, personPassed);
          (time % 2 === 0 ? one : other).add(evalPassed, personPassed);
        }
      }
      one.merge(other.state());
      expect(one.agreement()).toEqual(whole.agreement());
      const { kappa = null, ci95 = null } = whole.agreement() ?? {};
      if (kappa === null || ci95 === null) return;
      expect(kappa).toBeGreaterThanOrEqual(ci95[0] - 1e-12);
      expect(kappa).toBeLessThanOrEqual(ci95[1] + 1e-12);
    }),
  );
});
