import {
  flag,
  listOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  recordOf,
  type Shape,
  shapeOf,
  text,
} from '../../base/json/shape.ts';
import type * as record from '../record.ts';
import { spending } from './record-shapes.ts';
import type { Times, Totals } from './totals-record.ts';
import { comparison, gateTest, variantReport } from './variant-shapes.ts';

// What a stored report has to be when it is read back, member by member.

const interval: Shape<record.Interval> = shapeOf(
  (value): value is record.Interval =>
    Array.isArray(value) && value.length === 2 && value.every((bound) => typeof bound === 'number'),
);

const latency = members<record.Latency>({ p50: number, p99: number });

const stats: Stats<record.Stats> = {
  count: number,
  scored: number,
  unscored: number,
  unscored_share: nullOr(number),
  faults: optional(number),
  passed: number,
  pass_rate: nullOr(number),
  pass_rate_ci95: nullOr(interval),
  mean: nullOr(number),
  stderr: nullOr(number),
  ci95: nullOr(interval),
  median: nullOr(number),
  p10: nullOr(number),
  flaky: number,
  pass_at: optional(recordOf(number)),
  pass_hat: optional(recordOf(number)),
};

type Stats<T> = { readonly [Key in keyof T]-?: Shape<T[Key]> };

const classification = optional(
  members<record.Classification>({
    true_positives: number,
    false_positives: number,
    true_negatives: number,
    false_negatives: number,
    precision: nullOr(number),
    recall: nullOr(number),
    f1: nullOr(number),
    f2: nullOr(number),
    accuracy: nullOr(number),
    auc: nullOr(number),
    roc: optional(listOf(members({ threshold: number, tpr: number, fpr: number }))),
    latency_ms: recordOf(latency),
  }),
);

const evalStats = members<record.EvalStats>({
  ...stats,
  histogram: listOf(number),
  latency_ms: nullOr(latency),
  queue_ms: optional(nullOr(latency)),
  classification,
  agreement: optional(
    members<record.Agreement>({
      n: number,
      both_passed: number,
      only_eval: number,
      only_person: number,
      both_failed: number,
      observed: number,
      kappa: nullOr(number),
      stderr: nullOr(number),
      ci95: nullOr(interval),
    }),
  ),
  tags: recordOf(members<record.EvalStats['tags'][string]>({ ...stats, classification })),
});

const caseStats = members<record.CaseStats>({ ...stats, tags: recordOf(members<record.Stats>(stats)) });

export const problem = members<record.RowProblem>({
  scope: optional(oneOf('run')),
  variant: optional(text),
  file: text,
  line: number,
  column: number,
  message: text,
  hint: optional(text),
});

export const failure = members<record.Failure>({
  case: text,
  variant: optional(text),
  file: text,
  line: number,
  eval: text,
  score: nullOr(number),
  detail: text,
  code: optional(text) as Shape<record.Failure['code']>,
  hint: optional(text),
  fields: optional(recordOf(text)),
});

const times = nullOr(members<Times>({ p50: number, p95: number, p99: number, sum: number }));

const totals = members<Totals>({
  answers: number,
  cached: number,
  failed: number,
  input_tokens: nullOr(number),
  output_tokens: nullOr(number),
  cost_usd: nullOr(number),
  unknown: members<Totals['unknown']>({ tokens: number, cost_usd: number }),
  answer_ms: times,
  queue_ms: times,
});

export const report = members<record.SuiteReport>({
  run_id: text,
  suite: text,
  status: oneOf('passed', 'failed', 'error'),
  cases: number,
  epochs: number,
  bailed: flag,
  overall: caseStats,
  evals: recordOf(evalStats),
  variants: optional(listOf(variantReport({ caseStats, evalStats, totals }))),
  comparisons: optional(listOf(comparison(interval))),
  gates: listOf(
    members<record.GateResult>({
      eval: optional(text),
      metric: text,
      tag: optional(text),
      variant: optional(text),
      better_than: optional(text),
      value: nullOr(number),
      min: nullOr(number),
      max: nullOr(number),
      passed: flag,
      test: optional(gateTest(interval)),
    }),
  ),
  totals: optional(totals),
  spending: optional(spending),
  not_judged: optional(number),
  duration_ms: number,
  problems: listOf(problem),
  problem_count: number,
  failures: listOf(failure),
  failure_count: number,
});
