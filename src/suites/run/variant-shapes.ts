import {
  listOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  recordOf,
  type Shape,
  text,
} from '../../base/json/shape.ts';
import type { GateTest } from '../record.ts';
import type { PairedDifference, ScoreDifference } from './difference-record.ts';
import type { CaseStats, EvalStats, Interval } from './stats-record.ts';
import type { Totals } from './totals-record.ts';
import type { VariantComparison, VariantHeader, VariantReport } from './variant-record.ts';

// What a stored report has to say of the variants of a matrix when it is read back.

/** The header of a matrix. */
export const variantHeaders: Shape<readonly VariantHeader[]> = listOf(
  members<VariantHeader>({ name: text, provider: optional(text), prompt: optional(text) }),
);

interface StatsShapes {
  readonly caseStats: Shape<CaseStats>;
  readonly evalStats: Shape<EvalStats>;
  readonly totals: Shape<Totals>;
}

export function variantReport({ caseStats, evalStats, totals }: StatsShapes): Shape<VariantReport> {
  return members<VariantReport>({
    ...{ name: text, provider: optional(text), prompt: optional(text) },
    status: oneOf('passed', 'failed', 'error'),
    ...{ cases: number, problem_count: number },
    overall: caseStats,
    evals: recordOf(evalStats),
    totals: optional(totals),
  });
}

export function comparison(interval: Shape<Interval>): Shape<VariantComparison> {
  const difference = members<PairedDifference>({
    ...{ pairs: number, only_in_a: number, only_in_b: number },
    table: members<PairedDifference['table']>({
      ...{ both_passed: number, only_a_passed: number, only_b_passed: number, neither_passed: number },
    }),
    ...{ regressions: number, improvements: number, flaky: number },
    pass_rate: members<PairedDifference['pass_rate']>({ a: nullOr(number), b: nullOr(number) }),
    p_value: nullOr(number),
    unscored: members<PairedDifference['unscored']>({ only_in_a: number, only_in_b: number, both: number }),
    score: nullOr(
      members<ScoreDifference>({
        ...{ pairs: number, ties: number, mean_a: number, mean_b: number, difference: number },
        ...{ stderr: nullOr(number), ci95: nullOr(interval), p_value: nullOr(number) },
        test: oneOf('sign_flip', 'paired_t'),
      }),
    ),
  });
  return members<VariantComparison>({ a: text, b: text, cases: difference, evals: recordOf(difference) });
}

export function gateTest(interval: Shape<Interval>): Shape<GateTest> {
  return members<GateTest>({
    name: oneOf('mcnemar', 'sign_flip', 'paired_t'),
    ...{ pairs: number, ties: number, unscored: number, unpaired: number },
    ...{ p_value: nullOr(number), ci95: nullOr(interval) },
    flaw: nullOr(oneOf('too_few_pairs', 'too_many_missing')),
  });
}
