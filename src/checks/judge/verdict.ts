import { type EvalOutcome, scored, unscored } from '../../contract/eval.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import { Json, stringifyJson } from '../../json/json.ts';
import { findDuplicateKey } from '../../json/scan.ts';
import { isSameValue } from '../same-value.ts';
import { exactTree } from '../tools/exact.ts';
import { shorten } from '../tools/words.ts';
import { type FoundObject, findObjects } from './find-objects.ts';

/**
 * The score of a judge's answer: of the one JSON object with a `score` that it is or holds. Anything else is unscored,
 * with REPLY_MALFORMED. Amid other text, an object that also stands in `judged` is a quotation.
 */
export function readVerdict(answer: string, judged: string): EvalOutcome {
  const { objects, isBroken } = findObjects(answer);
  if (isBroken) return unreadable('has JSON that cannot be read', answer);
  const verdicts = withoutRepeats(objects.filter(({ value }) => Object.hasOwn(value, 'score')));
  const [verdict, other] = verdicts;
  if (verdict === undefined) return unreadable('has no JSON object with a `score`', answer);
  if (other !== undefined) return unreadable('has more than one verdict', answer);
  if (!isAlone(verdict, answer) && squeeze(judged).includes(squeeze(verdict.text))) {
    return unreadable('quotes a verdict from the judged text', answer);
  }
  return toOutcome(verdict, answer);
}

function toOutcome({ text, value }: FoundObject, answer: string): EvalOutcome {
  const { score, reasoning = value['reason'] } = value;
  if (findDuplicateKey(text) !== undefined) return unreadable('has a verdict that names a key twice', answer);
  if (typeof score !== 'number') return unreadable('has a `score` that is no number', answer);
  if (!(score >= 0 && score <= 1)) return unreadable('has a `score` that is not in 0..1', answer);
  const detail = typeof reasoning === 'string' ? reasoning : stringifyJson(reasoning ?? '');
  return scored(Math.abs(score), reasoning === undefined ? '' : detail, new Json(text));
}

/** A judge that gives its verdict twice is of one mind. */
function withoutRepeats(verdicts: readonly FoundObject[]): FoundObject[] {
  const trees = verdicts.map(({ text }) => exactTree(new Json(text)));
  return verdicts.filter(
    (_, index) => !trees.slice(0, index).some((tree) => isSameValue(tree, trees[index])),
  );
}

/** Whether the answer is the verdict, fenced or not. */
function isAlone({ text }: FoundObject, answer: string): boolean {
  const rest = answer.split(text).join('').trim();
  return rest === '' || /^```(?:json)?\s*```$/i.test(rest);
}

/** A quotation may differ in white space and in escapes. */
function squeeze(text: string): string {
  return text.replaceAll(/[\s\\]+/g, '');
}

function unreadable(what: string, answer: string): EvalOutcome {
  const message = `the judge’s answer ${what}: ${shorten(answer)}`;
  const error = new RuntimeError('REPLY_MALFORMED', message, {
    hint: 'A judge answers with {"score": 0..1, "reasoning": "…"}; another model may keep to that.',
    details: { answer: shorten(answer, MOST_KEPT) },
  });
  return unscored(message, toFault(error));
}

/** Characters of an unreadable answer that are kept for whoever looks into it. */
const MOST_KEPT = 2000;
