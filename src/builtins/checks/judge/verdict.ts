import { compare, divide, exact, subtract, toDouble } from '../../../base/json/decimal.ts';
import { Json, stringifyJson } from '../../../base/json/json.ts';
import { type EvalOutcome, scored } from '../../../contract/eval.ts';
import type { Params } from '../check.ts';
import type { FoundObject } from './answer-object.ts';
import { findAnswerObject, unreadableAnswer } from './answer-object.ts';
import { scaleOf } from './judge-params.ts';

/** Reads the score of the one JSON object with a `score` in a judge's answer. */
export function readVerdict(answer: string, judged: string, params: Params = {}): EvalOutcome {
  const { min, max } = scaleOf(params);
  const wanted = { key: 'score', form: `{"score": ${min}..${max}, "reasoning": "…"}` };
  const found = findAnswerObject(answer, wanted, judged);
  if ('status' in found) return found;
  const { text, value }: FoundObject = found;
  const { score, reasoning = value['reason'] } = value;
  if (typeof score !== 'number')
    return unreadableAnswer('has a `score` that is not a number', answer, wanted);
  if (!(compare(score, min) >= 0 && compare(score, max) <= 0))
    return unreadableAnswer(`has a \`score\` outside ${min}..${max}`, answer, wanted);
  const detail = typeof reasoning === 'string' ? reasoning : stringifyJson(reasoning ?? '');
  const share = divide(subtract(exact(score), exact(min)), subtract(exact(max), exact(min)));
  return scored(toDouble(share), reasoning === undefined ? '' : detail, new Json(text));
}
