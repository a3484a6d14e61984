import { isObject, Json, parseLossless } from '../../json.ts';
import { elementsOf } from '../../json-text.ts';
import { type Body, malformed, toBody } from '../body.ts';

/** A value of a payload as plain data, whether it came as a tree or as text. */
export function plain(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

/** The members of an object. Throws REPLY_MALFORMED when it is none; `what` names it. */
export function requireObject(json: Json, what: string): Body {
  if (!isObject(json.value)) throw malformed(`${what} is not an object`);
  return toBody(json);
}

/** The elements of a list, each with its text. Throws REPLY_MALFORMED when it is none. */
export function requireList(json: Json, what: string): Json[] {
  if (!Array.isArray(json.value)) throw malformed(`${what} is not a list`);
  return elementsOf(json);
}

/** Whether two texts say the same, whatever the order of keys and the white space; long numbers count in full. */
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
