import { describe, expect, test } from 'vitest';
import type { Gate } from '../../../src/suites/file/model.ts';
import type { CaseStats, Classification, EvalStats, Stats } from '../../../src/suites/record.ts';
import { findGateMetric, gateMetricNames, judgeGates } from '../../../src/suites/run/gates.ts';

const half: Stats = {
  ...{ count: 4, scored: 2, unscored: 2, unscored_share: 0.5, passed: 2, pass_rate: 0.5 },
  ...{
    pass_rate_ci95: [0.15, 0.85],
    mean: 0.9,
    stderr: 0.05,
    ci95: [0.8, 1],
    median: 0.95,
    p10: 0.7,
    flaky: 1,
  },
  ...{ pass_at: { 1: 0.5, 2: 0.75 }, pass_hat: { 1: 0.5, 2: 0.25 } },
};
const nothing: Stats = {
  ...{ count: 0, scored: 0, unscored: 0, unscored_share: null, passed: 0, pass_rate: null },
  ...{ pass_rate_ci95: null, mean: null, stderr: null, ci95: null, median: null, p10: null, flaky: 0 },
};
const classification: Classification = {
  ...{ true_positives: 6, false_positives: 3, true_negatives: 9, false_negatives: 2 },
  ...{ precision: 0.66, recall: 0.75, f1: 0.7, f2: 0.73, accuracy: 0.8, auc: null, latency_ms: {} },
};
const more = { histogram: [], latency_ms: { p50: 12, p99: 250 } };
const stats: Readonly<Record<string, EvalStats>> = {
  a: { ...half, ...more, tags: { x: { ...half, pass_rate: 0.25 } } },
  guard: {
    ...half,
    ...more,
    classification,
    tags: { x: { ...half, classification: { ...classification, f2: 0.5 } } },
  },
  empty: { ...nothing, histogram: [], latency_ms: null, tags: {} },
};
const overall: CaseStats = { ...half, pass_rate: 0.4, tags: { x: { ...half, pass_rate: 0.3 } } };

describe('gates', () => {
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
    { title: 'the median', gate: { eval: 'a', metric: 'median', min: 0.9 }, value: 0.95, passed: true },
    { title: 'the lowest tenth', gate: { eval: 'a', metric: 'p10', min: 0.8 }, value: 0.7, passed: false },
    {
      title: 'the error of the mean',
      gate: { eval: 'a', metric: 'stderr', max: 0.05 },
      value: 0.05,
      passed: true,
    },
    {
      title: 'the share of unscored',
      gate: { eval: 'a', metric: 'unscored', max: 0 },
      value: 0.5,
      passed: false,
    },
    {
      title: 'the share of flaky',
      gate: { eval: 'a', metric: 'flaky', max: 0.25 },
      value: 0.25,
      passed: true,
    },
    { title: 'pass@2', gate: { eval: 'a', metric: 'pass@2', min: 0.7 }, value: 0.75, passed: true },
    { title: 'pass^2', gate: { eval: 'a', metric: 'pass^2', min: 0.7 }, value: 0.25, passed: false },
    {
      title: 'pass@3 of two epochs',
      gate: { eval: 'a', metric: 'pass@3', min: 0 },
      value: null,
      passed: false,
    },
    {
      title: 'recall of a guard',
      gate: { eval: 'guard', metric: 'recall', min: 0.75 },
      value: 0.75,
      passed: true,
    },
    {
      title: 'f2 by tag',
      gate: { eval: 'guard', metric: 'f2', tag: 'x', min: 0.7 },
      value: 0.5,
      passed: false,
    },
    {
      title: 'auc that is not known',
      gate: { eval: 'guard', metric: 'auc', min: 0 },
      value: null,
      passed: false,
    },
    {
      title: 'recall of what is no guard',
      gate: { eval: 'a', metric: 'recall', min: 0 },
      value: null,
      passed: false,
    },
    { title: 'milliseconds', gate: { eval: 'guard', metric: 'p99_ms', max: 200 }, value: 250, passed: false },
    { title: 'the cases as wholes', gate: { metric: 'pass_rate', min: 0.4 }, value: 0.4, passed: true },
    {
      title: 'the cases of a tag as wholes',
      gate: { metric: 'pass_rate', tag: 'x', min: 0.4 },
      value: 0.3,
      passed: false,
    },
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
      title: 'a metric named like a built-in property',
      gate: { eval: 'a', metric: 'constructor', min: 0 },
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
    {
      title: 'the share of flaky of nothing',
      gate: { eval: 'empty', metric: 'flaky', max: 1 },
      value: null,
      passed: false,
    },
  ];

  test.each(cases)('judge $title [DS-SUITE-03]', ({ gate, value, passed }) => {
    const { min = null, max = null } = gate;
    expect(judgeGates([gate], { overall, evals: stats })).toEqual([{ ...gate, value, min, max, passed }]);
  });
});

describe('the names of metrics', () => {
  test('are all known, with a number for K', () => {
    expect(gateMetricNames.filter((name) => findGateMetric(name.replace('K', '3')) === undefined)).toEqual(
      [],
    );
  });

  test.each(['', 'pass@0', 'pass@K', 'pass@1.5', 'pass@', 'Mean', 'constructor', 'toString', '__proto__'])(
    '"%s" is not one of them',
    (name) => {
      expect(findGateMetric(name)).toBeUndefined();
    },
  );

  test.each([
    { name: 'mean', info: { unit: 'share', scope: 'cases', hasTags: true, epochs: 1 } },
    { name: 'pass@1', info: { unit: 'share', scope: 'cases', hasTags: true, epochs: 2 } },
    { name: 'pass^4', info: { unit: 'share', scope: 'cases', hasTags: true, epochs: 4 } },
    { name: 'f2', info: { unit: 'share', scope: 'guards', hasTags: true, epochs: 1 } },
    { name: 'p99_ms', info: { unit: 'amount', scope: 'evals', hasTags: false, epochs: 1 } },
  ])('$name has a description of its scope', ({ name, info }) => {
    expect(findGateMetric(name)).toEqual(info);
  });
});
