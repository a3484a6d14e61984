import { sumOf } from '../../base/json/decimal.ts';
import { meetsThreshold } from '../../calls/capability/threshold.ts';
import { type EvalOutcome, scored, type Threshold, unscored } from '../../contract/eval.ts';

/** 1 minus the score; an unscored outcome stays as it is. */
export function invert(outcome: EvalOutcome): EvalOutcome {
  return outcome.status === 'unscored'
    ? outcome
    : scored(sumOf([1, -outcome.score]), `not: ${describeOutcome(outcome)}`);
}

/** Scores 1 when the outcome is within the bounds, else 0; unscored stays unscored. */
export function applyBounds(outcome: EvalOutcome, threshold: Threshold): EvalOutcome {
  if (outcome.status === 'unscored') return outcome;
  return scored(meetsThreshold(outcome, threshold) ? 1 : 0, outcome.detail);
}

/**
 * The highest score for `any_of`, the lowest for `all_of`. With an unscored part the result is unscored,
 * unless another part scored 1 (`any_of`) or 0 (`all_of`), which no missing score could change.
 */
export function combine(kind: 'any_of' | 'all_of', outcomes: readonly EvalOutcome[]): EvalOutcome {
  const scores = outcomes.flatMap((outcome) => (outcome.status === 'scored' ? [outcome.score] : []));
  const combined = kind === 'any_of' ? Math.max(...scores) : Math.min(...scores);
  const missing = outcomes.find((outcome) => outcome.status === 'unscored');
  const isCertain = combined === (kind === 'any_of' ? 1 : 0);
  if (missing !== undefined && !isCertain) return unscored(`${kind}: ${missing.reason}`, missing.error);
  return scored(combined, outcomes.map(describeOutcome).join('; '));
}

function describeOutcome(outcome: EvalOutcome): string {
  if (outcome.status === 'unscored') return `unscored: ${outcome.reason}`;
  return outcome.detail === '' ? String(outcome.score) : `${outcome.score}, ${outcome.detail}`;
}
