import { isObject, toLossless } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';

/** A message, which a filter may have written, as plain values that keep their digits. */
export function plainMessage(message: ChatMessage): Readonly<Record<string, unknown>> {
  const plain = toLossless(message);
  return isObject(plain) ? plain : {};
}
