import { type EvalOutcome, scored, unscored } from '../../contract/eval.ts';
import { RuntimeError, toFault } from '../../errors.ts';
import { findDuplicateKey } from '../../json/duplicate-key.ts';
import { isSameByValue } from '../../json/equal.ts';
import { Json, stringifyJson, toLossless } from '../../json/json.ts';
import { shorten } from '../../text/shorten.ts';
import { type FoundObject, findObjects } from './object-finder.ts';

/**
 * The score of a judge's answer: of the one JSON object with a `score` that it is or holds. Anything else is
 * unscored, with REPLY_MALFORMED; so is, amid other text, an object that also stands in `judged`, as it may
 * be a quotation.
 */
export function readVerdict(answer: string, judged: string): EvalOutcome {
  const { objects, isBroken } = findObjects(answer);
  if (isBroken) return unreadableAnswer('has JSON that cannot be read', answer);
  const verdicts = withoutRepeats(objects.filter(({ value }) => Object.hasOwn(value, 'score')));
  const [verdict, other] = verdicts;
  if (verdict === undefined) return unreadableAnswer('has no JSON object with a `score`', answer);
  if (other !== undefined) return unreadableAnswer('has more than one verdict', answer);
  if (
    !isWholeAnswer(verdict, answer) &&
    withoutSpaceAndEscapes(judged).includes(withoutSpaceAndEscapes(verdict.text))
  ) {
    return unreadableAnswer('quotes a verdict from the judged text', answer);
  }
  return toOutcome(verdict, answer);
}

function toOutcome({ text, value }: FoundObject, answer: string): EvalOutcome {
  const { score, reasoning = value['reason'] } = value;
  if (findDuplicateKey(text) !== undefined)
    return unreadableAnswer('has a verdict that names a key twice', answer);
  if (typeof score !== 'number') return unreadableAnswer('has a `score` that is no number', answer);
  if (!(score >= 0 && score <= 1)) return unreadableAnswer('has a `score` that is not in 0..1', answer);
  const detail = typeof reasoning === 'string' ? reasoning : stringifyJson(reasoning ?? '');
  return scored(Math.abs(score), reasoning === undefined ? '' : detail, new Json(text));
}

/** The verdicts without repetitions of the same JSON value. */
function withoutRepeats(verdicts: readonly FoundObject[]): FoundObject[] {
  const trees = verdicts.map(({ text }) => toLossless(new Json(text)));
  return verdicts.filter(
    (_, index) => !trees.slice(0, index).some((tree) => isSameByValue(tree, trees[index])),
  );
}

/** Whether the answer is the verdict, fenced or not. */
function isWholeAnswer({ text }: FoundObject, answer: string): boolean {
  const rest = answer.split(text).join('').trim();
  return rest === '' || /^```(?:json)?\s*```$/i.test(rest);
}

/** A quotation may differ in white space and in escapes. */
function withoutSpaceAndEscapes(text: string): string {
  return text.replaceAll(/[\s\\]+/g, '');
}

function unreadableAnswer(what: string, answer: string): EvalOutcome {
  const message = `the judge’s answer ${what}: ${shorten(answer)}`;
  const error = new RuntimeError('REPLY_MALFORMED', message, {
    hint: 'A judge answers with {"score": 0..1, "reasoning": "…"}; another model may keep to that.',
    details: { answer: shorten(answer, MAX_ANSWER_CHARACTERS) },
  });
  return unscored(message, toFault(error));
}

/** How many characters of an unreadable answer the error's details hold. */
const MAX_ANSWER_CHARACTERS = 2000;
