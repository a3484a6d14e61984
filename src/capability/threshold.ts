import type { EvalOutcome, Threshold } from '../contract/eval.ts';

/**
 * Whether an outcome meets a threshold: inclusive bounds, compared exactly; with neither bound the minimum
 * is 1.0, and a lone maximum implies no minimum. What could not be scored never passes.
 */
export function meetsThreshold(outcome: EvalOutcome, threshold: Threshold = {}): boolean {
  if (outcome.status === 'unscored') return false;
  const { max_score: max } = threshold;
  const min = threshold.min_score ?? (max === undefined ? 1 : undefined);
  return (min === undefined || outcome.score >= min) && (max === undefined || outcome.score <= max);
}
