import type { ChatMessage } from '../../contract/provider.ts';
import { isObject, parseLossless, stringifyJson } from '../../json/json.ts';

/** A tree with `Json` in it as plain values that keep their digits. */
export function exactTree(value: unknown): unknown {
  return parseLossless(stringifyJson(value));
}

/** A message, which a filter may have written, as plain values that keep their digits. */
export function plainMessage(message: ChatMessage): Readonly<Record<string, unknown>> {
  const plain = exactTree(message);
  return isObject(plain) ? plain : {};
}

/** One text for all spellings of a JSON value: however keys are ordered and characters escaped. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sortKeys(exactTree(value)));
}

/** Whether two trees are the same JSON value, to the digit. */
export function isSameJsonText(one: unknown, other: unknown): boolean {
  return one === other || canonicalText(one) === canonicalText(other);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, sortKeys(member)]);
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)));
}
