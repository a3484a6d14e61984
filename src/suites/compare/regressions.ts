import { formatCount } from '../../base/text/phrases.ts';
import { formatP } from '../report/numbers.ts';
import type { Comparison, Difference, EvalDifference } from './comparison.ts';

/** `any`: at least one case regressed. `significant`: the regressions are statistically significant. */
export type RegressionRule = 'any' | 'significant';

const level = 0.05;

/**
 * Returns sentences that explain why B is worse than A; empty if it is not. Metrics count only if two evals were named.
 * Runs without common cases and incomplete runs also count as worse.
 */
export function findRegressions(comparison: Comparison, rule: RegressionRule): string[] {
  const { cases, evals, a, b } = comparison;
  const gated = evals.filter(({ role }) => role !== 'metric' || cases === null);
  const pairs = Math.max(cases?.pairs ?? 0, ...gated.map((each) => each.pairs));
  return [
    ...(a.is_complete ? [] : ['run A did not finish']),
    ...(b.is_complete ? [] : ['run B did not finish']),
    ...(pairs === 0 ? ['the two sides have no cases in common'] : []),
    ...(rule === 'any' ? anyRegression(cases, gated) : significantRegressions(gated)),
  ];
}

function anyRegression(cases: Difference | null, gated: readonly EvalDifference[]): string[] {
  const named = [
    ...(cases === null ? [] : [['cases', cases] as const]),
    ...gated.map((each) => [nameOf(each), each] as const),
  ];
  return named
    .filter(([_name, { regressions }]) => regressions > 0)
    .map(([name, { regressions }]) => `${name}: ${formatCount(regressions, 'regression')}`);
}

/** Applies the exact test of each eval at a family-wise level of 5 % (Holm, 1979). */
function significantRegressions(gated: readonly EvalDifference[]): string[] {
  const ranked = gated.map((each) => ({ each, p: each.p_value ?? 1 })).sort((one, other) => one.p - other.p);
  const firstInsignificant = ranked.findIndex(({ p }, index) => p >= level / (ranked.length - index));
  return ranked
    .slice(0, firstInsignificant === -1 ? ranked.length : firstInsignificant)
    .filter(({ each: { table } }) => table.only_a_passed > table.only_b_passed)
    .map(({ each, p }) => `${nameOf(each)}: significantly fewer pass (${formatP(p)})`);
}

export function nameOf({ eval_a: a, eval_b: b }: Pick<EvalDifference, 'eval_a' | 'eval_b'>): string {
  return a === b ? a : `${a} → ${b}`;
}
