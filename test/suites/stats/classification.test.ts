import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GuardSample, newClassificationTally } from '../../../src/suites/stats/classification.ts';

function classify(decisions: readonly Partial<GuardSample>[]) {
  const tally = newClassificationTally();
  for (const each of decisions) {
    tally.add({ expected: false, flagged: false, confidence: null, hooks: [], ...each });
  }
  return tally.classification();
}

function times(count: number, expected: boolean, flagged: boolean): Partial<GuardSample>[] {
  return Array<Partial<GuardSample>>(count).fill({ expected, flagged });
}

/** Decisions with a confidence; flagged from 0.5. */
function sure(pairs: readonly (readonly [expected: boolean, confidence: number])[]): Partial<GuardSample>[] {
  return pairs.map(([expected, confidence]) => ({ expected, confidence, flagged: confidence >= 0.5 }));
}

test('no decisions give no classification', () => {
  expect(classify([])).toBeUndefined();
});

test('decisions give counts and measures', () => {
  const decisions = [
    ...times(6, true, true),
    ...times(2, true, false),
    ...times(3, false, true),
    ...times(9, false, false),
  ];
  expect(classify(decisions)).toEqual({
    ...{ true_positives: 6, false_negatives: 2, false_positives: 3, true_negatives: 9 },
    ...{ precision: 6 / 9, recall: 6 / 8, f1: 12 / 17, f2: 30 / 41, accuracy: 15 / 20 },
    ...{ auc: null, latency_ms: {} },
  });
});

test.each([
  {
    title: 'nothing flagged has no precision',
    decisions: times(2, true, false),
    told: { precision: null, recall: 0, f1: 0, f2: 0 },
  },
  {
    title: 'nothing to flag has no recall',
    decisions: times(2, false, true),
    told: { precision: 0, recall: null, f1: 0, f2: 0 },
  },
  {
    title: 'nothing of either has no f',
    decisions: times(2, false, false),
    told: { precision: null, recall: null, f1: null, f2: null, accuracy: 1 },
  },
])('$title', ({ decisions, told }) => {
  expect(classify(decisions)).toMatchObject(told);
});

test('unlabelled events count only for durations', () => {
  const hooks = [{ name: 'pii', duration_ms: 10 }];
  expect(
    classify([
      { expected: null, flagged: true, confidence: null, hooks },
      ...sure([
        [true, 0.9],
        [false, 0.1],
      ]),
    ]),
  ).toMatchObject({
    ...{ true_positives: 1, false_positives: 0, true_negatives: 1, false_negatives: 0, auc: 1 },
    latency_ms: { pii: { p50: 9.99, p99: 9.99 } },
  });
});

describe('the area under the curve', () => {
  test.each([
    {
      title: 'all told apart',
      pairs: [
        [true, 0.9],
        [true, 0.8],
        [false, 0.2],
      ],
      auc: 1,
    },
    {
      title: 'the wrong way round',
      pairs: [
        [true, 0.1],
        [false, 0.2],
      ],
      auc: 0,
    },
    {
      title: 'a tie counts half',
      pairs: [
        [true, 0.5],
        [false, 0.5],
      ],
      auc: 0.5,
    },
    {
      title: 'ties and others',
      pairs: [
        [true, 0.9],
        [true, 0.5],
        [false, 0.5],
        [false, 0.1],
      ],
      auc: 0.875,
    },
    {
      title: 'nothing to flag',
      pairs: [
        [false, 0.5],
        [false, 0.1],
      ],
      auc: null,
    },
  ] as const)('$title', ({ pairs, auc }) => {
    expect(classify(sure(pairs))).toMatchObject({ auc });
  });

  test('is absent if one decision has no confidence', () => {
    const told = classify([
      ...sure([
        [true, 0.9],
        [false, 0.1],
      ]),
      { expected: true, flagged: true },
    ]);
    expect([told?.auc, told?.roc]).toEqual([null, undefined]);
  });

  const pair = fc.tuple(
    fc.boolean(),
    fc.integer({ min: 0, max: 20 }).map((n) => n / 20),
  );

  test('property: equals the share of correctly ordered pairs, in any order', () => {
    const given = fc
      .array(pair, { minLength: 2, maxLength: 60 })
      .filter((all) => all.some(([expected]) => expected) && all.some(([expected]) => !expected))
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
    fc.assert(
      fc.property(given, ([all, other]) => {
        const wins = all.flatMap(([expected, high]) =>
          expected
            ? all.flatMap(([isPositive, low]) =>
                isPositive ? [] : [high > low ? 1 : high === low ? 0.5 : 0],
              )
            : [],
        );
        const told = classify(sure(all));
        expect(told?.auc).toBeCloseTo(wins.reduce<number>((sum, each) => sum + each, 0) / wins.length, 12);
        expect(JSON.stringify(classify(sure(other)))).toBe(JSON.stringify(told));
      }),
    );
  });
});

describe('the curve', () => {
  test('has a point for each confidence, and ends where all is flagged', () => {
    expect(
      classify(
        sure([
          [true, 0.75],
          [false, 0.75],
          [true, 0.5],
          [false, 0.25],
        ]),
      )?.roc,
    ).toEqual([
      { threshold: 0.75, tpr: 0.5, fpr: 0.5 },
      { threshold: 0.5, tpr: 1, fpr: 0.5 },
      { threshold: 0.25, tpr: 1, fpr: 1 },
    ]);
  });

  test('has 101 points of a thousand, including the first and the last', () => {
    const roc =
      classify(sure(Array.from({ length: 1000 }, (_none, n) => [n % 2 === 0, n / 1000] as const)))?.roc ?? [];
    expect([roc.length, roc[0], roc.at(-1)]).toEqual([
      101,
      { threshold: 0.999, tpr: 0, fpr: 1 / 500 },
      { threshold: 0, tpr: 1, fpr: 1 },
    ]);
  });
});
