import { meetsThreshold } from '../../capability/threshold.ts';
import { type EvalOutcome, scored, type Threshold, unscored } from '../../contract/eval.ts';

/** The opposite score. */
export function invert(outcome: EvalOutcome): EvalOutcome {
  return outcome.status === 'unscored' ? outcome : scored(1 - outcome.score, `not: ${say(outcome)}`);
}

/** 1 when the outcome keeps the bounds, else 0. */
export function bound(outcome: EvalOutcome, threshold: Threshold): EvalOutcome {
  if (outcome.status === 'unscored') return outcome;
  return scored(meetsThreshold(outcome, threshold) ? 1 : 0, outcome.detail);
}

/**
 * The highest score of `any_of`, the lowest of `all_of`. Without the score of one part, that is known only when
 * another has 1, or 0, already: no score that is missing could change it.
 */
export function combine(kind: 'any_of' | 'all_of', outcomes: readonly EvalOutcome[]): EvalOutcome {
  const scores = outcomes.flatMap((outcome) => (outcome.status === 'scored' ? [outcome.score] : []));
  const settled = kind === 'any_of' ? Math.max(...scores) : Math.min(...scores);
  const missing = outcomes.find((outcome) => outcome.status === 'unscored');
  const isCertain = settled === (kind === 'any_of' ? 1 : 0);
  if (missing !== undefined && !isCertain) return unscored(`${kind}: ${missing.reason}`, missing.error);
  return scored(settled, outcomes.map(say).join('; '));
}

function say(outcome: EvalOutcome): string {
  if (outcome.status === 'unscored') return `unscored: ${outcome.reason}`;
  return outcome.detail === '' ? String(outcome.score) : `${outcome.score}, ${outcome.detail}`;
}
