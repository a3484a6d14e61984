import { isObject, Json, parseLossless } from '../../json/json.ts';
import { elementsOf, type Member, membersOf } from '../../json/scan.ts';
import { type Body, malformed, nonNull, toBody } from '../body.ts';

/** The members of an object. Throws REPLY_MALFORMED when it is none; `what` names it. */
export function requireObject(json: Json, what: string): Body {
  if (!isObject(json.value)) throw malformed(`${what} is not an object`);
  return toBody(json);
}

/**
 * The members of an object under the names by which they are known: a Go program takes them in any letter case, and of
 * several the last. Throws REPLY_MALFORMED when it is no object; `what` names it.
 */
export function foldObject(json: Json, what: string, known: readonly string[]): Body {
  return foldBody(requireObject(json, what), known);
}

/** The same object with `key` set to an empty text when it is absent or null, as a Go program reads it. */
export function foldWithText(json: Json, key: string, known: readonly string[]): Json {
  const parts = membersOf(foldObject(json, `\`${key}\``, known).json);
  return Json.from({ ...parts, [key]: nonNull(parts[key]) ?? '' });
}

export function foldBody(body: Body, known: readonly string[]): Body {
  const names = new Map(known.map((name) => [name.toLowerCase(), name]));
  const nameOf = ({ key }: Member) => names.get(key.toLowerCase()) ?? key;
  if (body.members.every((member) => nameOf(member) === member.key)) return body;
  const { text } = body.json;
  const members = body.members.map(
    (member) => `${JSON.stringify(nameOf(member))}:${text.slice(member.start, member.end)}`,
  );
  return toBody(new Json(`{${members.join(',')}}`));
}

/** The elements of a list, each with its text. Throws REPLY_MALFORMED when it is none. */
export function requireList(json: Json, what: string): Json[] {
  if (!Array.isArray(json.value)) throw malformed(`${what} is not a list`);
  return elementsOf(json);
}

/**
 * Whether two JSON texts are equal, ignoring key order and white space; numbers are compared digit by digit.
 */
export function isSame(one: Json, other: Json): boolean {
  return (
    one.text === other.text || canonical(parseLossless(one.text)) === canonical(parseLossless(other.text))
  );
}

function canonical(value: unknown): string {
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}
