import { RuntimeError } from '../../base/errors.ts';
import { compare, type Exact, type Root } from '../../base/json/decimal.ts';
import type { EvalOutcome, Threshold } from '../../contract/eval.ts';

/**
 * Whether an outcome meets a threshold: with neither bound the minimum is 1.0, and a lone maximum implies no minimum. What
 * could not be scored never passes.
 */
export function meetsThreshold(outcome: EvalOutcome, threshold: Threshold = {}): boolean {
  return outcome.status === 'scored' && isScoreWithin(outcome.score, threshold);
}

/** The same of a score that may be a fraction. */
export function isScoreWithin(score: number | Exact, { min_score: min, max_score: max }: Threshold): boolean {
  return isWithin(score, { min: min ?? (max === undefined ? 1 : undefined), max });
}

/** Whether a value meets the bounds that there are. Both are inclusive, and compared as decimals, without rounding. */
export function isWithin(
  value: number | Exact | Root,
  { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined },
): boolean {
  return (min === undefined || compare(value, min) >= 0) && (max === undefined || compare(value, max) <= 0);
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
