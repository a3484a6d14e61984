import type { EvalOutcome, Threshold } from '../contract/eval.ts';
import { RuntimeError } from '../errors.ts';

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

/** Throws USAGE when a bound is no number in 0..1, or the minimum is above the maximum. */
export function requireThreshold(threshold: Threshold): void {
  const { min_score: min, max_score: max } = threshold;
  for (const [name, bound] of Object.entries({ min_score: min, max_score: max })) {
    if (bound === undefined || (typeof bound === 'number' && bound >= 0 && bound <= 1)) continue;
    throw new RuntimeError('USAGE', `${name} is a number from 0 to 1, not ${JSON.stringify(bound)}`);
  }
  if (min !== undefined && max !== undefined && min > max) {
    throw new RuntimeError('USAGE', `min_score ${min} is above max_score ${max}`);
  }
}
