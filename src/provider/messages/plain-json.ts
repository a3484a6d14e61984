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
