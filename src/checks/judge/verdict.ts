import { type EvalOutcome, scored } from '../../contract/eval.ts';
import { Json, stringifyJson } from '../../json/json.ts';
import { findAnswerObject, unreadableAnswer } from './answer-object.ts';
import type { FoundObject } from './object-finder.ts';

/** The score of a judge's answer: of the one JSON object with a `score` that it is or holds. */
export function readVerdict(answer: string, judged: string): EvalOutcome {
  const found = findAnswerObject(answer, wanted, judged);
  return 'status' in found ? found : toOutcome(found, answer);
}

const wanted = { key: 'score', form: '{"score": 0..1, "reasoning": "…"}' };

function toOutcome({ text, value }: FoundObject, answer: string): EvalOutcome {
  const { score, reasoning = value['reason'] } = value;
  if (typeof score !== 'number') return unreadableAnswer('has a `score` that is no number', answer, wanted);
  if (!(score >= 0 && score <= 1))
    return unreadableAnswer('has a `score` that is not in 0..1', answer, wanted);
  const detail = typeof reasoning === 'string' ? reasoning : stringifyJson(reasoning ?? '');
  return scored(Math.abs(score), reasoning === undefined ? '' : detail, new Json(text));
}
