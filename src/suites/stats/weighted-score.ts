import { divide, type Exact, newDecimalSum } from '../../base/json/decimal.ts';
import { isScoreWithin } from '../../calls/capability/eval.ts';
import type { EpochRecord, EvalHeader, EvalResult } from '../record.ts';

/**
 * Whether one epoch of a case passed, by the rule for cases: with a threshold of the case its weighted
 * score decides, without one every assertion and guardrail must pass.
 */
export function isEpochPassed(
  { results, threshold }: Pick<EpochRecord, 'results' | 'threshold'>,
  evals: ReadonlyMap<string, Pick<EvalHeader, 'role' | 'weight'>>,
): boolean {
  const deciding = results.flatMap((result) => {
    const header = evals.get(result.eval);
    return header === undefined || header.role === 'metric' ? [] : [{ ...result, weight: header.weight }];
  });
  if (threshold === undefined) return deciding.every(({ passed }) => passed);
  const score = weightedMean(deciding);
  return score !== null && isScoreWithin(score, threshold);
}

/** The weighted mean of the scores; null when one is null, or there is none. */
export function weightedMean(
  results: readonly (Pick<EvalResult, 'score'> & { readonly weight: number })[],
): Exact | null {
  const sum = newDecimalSum();
  const weights = newDecimalSum();
  for (const { score, weight } of results) {
    if (score === null) return null;
    sum.addProduct(weight, score);
    weights.add(weight);
  }
  return weights.exact().over > 0n ? divide(sum.exact(), weights.exact()) : null;
}
