import { RuntimeError, toFault } from '../../../base/errors.ts';
import { findDuplicateKey } from '../../../base/json/duplicate-key.ts';
import { endOfContainer } from '../../../base/json/ends.ts';
import { isSameByValue } from '../../../base/json/equal.ts';
import { isObject, Json, toLossless } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { shorten } from '../../../base/text/phrases.ts';
import { type EvalUnscored, unscored } from '../../../contract/eval.ts';

interface WantedObject {
  readonly key: string;
  readonly form: string;
}

/**
 * Returns the one JSON object with the key in an answer. Anything else is unscored with REPLY_MALFORMED. So is an
 * object within other text that `judged` contains too, as it may be a quotation.
 */
export function findAnswerObject(
  answer: string,
  wanted: WantedObject,
  judged: string,
): FoundObject | EvalUnscored {
  const { objects, isBroken } = findObjects(withoutThoughts(answer));
  if (isBroken) return unreadableAnswer('has JSON that cannot be parsed', answer, wanted);
  const verdicts = withoutRepeats(objects.filter(({ value }) => Object.hasOwn(value, wanted.key)));
  const [verdict, other] = verdicts;
  if (verdict === undefined)
    return unreadableAnswer(`has no JSON object with a \`${wanted.key}\``, answer, wanted);
  if (other !== undefined) return unreadableAnswer('has more than one verdict', answer, wanted);
  if (
    !isWholeAnswer(verdict, answer) &&
    withoutSpaceAndEscapes(judged).includes(withoutSpaceAndEscapes(verdict.text))
  ) {
    return unreadableAnswer('quotes a verdict from the judged text', answer, wanted);
  }
  if (findDuplicateKey(verdict.text) !== undefined)
    return unreadableAnswer('has a verdict with a duplicate key', answer, wanted);
  return verdict;
}

/**
 * Removes a model's thoughts. Some APIs omit the opening tag because the prompt ends with it; an unclosed thought
 * removes everything.
 */
function withoutThoughts(answer: string): string {
  const end = answer.lastIndexOf(THOUGHT_END);
  if (end === -1) return answer.trimStart().startsWith(THOUGHT) ? '' : answer;
  const start = answer.indexOf(THOUGHT);
  const isThought = start === -1 ? !answer.slice(0, end).includes('{') : answer.slice(0, start).trim() === '';
  return isThought ? answer.slice(end + THOUGHT_END.length) : answer;
}

const THOUGHT = '<think>';
const THOUGHT_END = '</think>';

function withoutRepeats(verdicts: readonly FoundObject[]): FoundObject[] {
  const trees = verdicts.map(({ text }) => toLossless(new Json(text)));
  return verdicts.filter(
    (_, index) => !trees.slice(0, index).some((tree) => isSameByValue(tree, trees[index])),
  );
}

function isWholeAnswer({ text }: FoundObject, answer: string): boolean {
  const rest = answer.split(text).join('').trim();
  return rest === '' || /^```(?:json)?\s*```$/i.test(rest);
}

/** A quotation may differ in white space and escapes. */
function withoutSpaceAndEscapes(text: string): string {
  return text.replaceAll(/[\s\\]+/g, '');
}

/** Returns unscored with REPLY_MALFORMED and the answer. */
export function unreadableAnswer(what: string, answer: string, { form }: WantedObject): EvalUnscored {
  const message = `the judge’s answer ${what}: ${shorten(answer)}`;
  const error = new RuntimeError('REPLY_MALFORMED', message, {
    hint: `A judge must answer with ${form}; another model may do that more reliably.`,
    details: { answer: shorten(answer, MAX_ANSWER_CHARACTERS), by: 'judge', flaw: what },
  });
  return unscored(message, toFault(error));
}

const MAX_ANSWER_CHARACTERS = 2000;

interface FoundObjects {
  readonly objects: readonly FoundObject[];
  /** Whether something begins like a JSON object but does not parse. */
  readonly isBroken: boolean;
}

export interface FoundObject {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Finds the outermost JSON objects within prose. Skips objects inside other braces: they belong to something
 * unreadable, such as a quotation without its escapes. Linear in the length of the text.
 */
function findObjects(text: string): FoundObjects {
  const objects: FoundObject[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '}') depth = Math.max(0, depth - 1);
    if (text[at] !== '{') continue;
    if (depth > 0 || !/^\{\s*["}]/.test(text.slice(at, at + MAX_LEADING_SPACE))) {
      depth += 1;
      continue;
    }
    const found = readObject(text, at);
    if (found === undefined) return { objects, isBroken: true };
    objects.push(found);
    at += found.text.length - 1;
  }
  return { objects, isBroken: false };
}

const MAX_LEADING_SPACE = 200;

function readObject(text: string, start: number): FoundObject | undefined {
  const end = endOfContainer(text, start);
  if (end === undefined) return undefined;
  const slice = text.slice(start, end);
  const value = tryParse(slice);
  return isObject(value) ? { text: slice, value } : undefined;
}
