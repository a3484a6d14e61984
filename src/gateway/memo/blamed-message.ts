import { isObject } from '../../base/json/json.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { WireRequest } from '../wire/codec.ts';

/**
 * The place of the message that a hook has denied, such as `messages[3]`: the one that its metadata names as
 * `message_index`, else the only one of a request that says nothing else. Undefined where it is not known, or where hooks before it have added
 * or dropped messages. `judged`: the messages as they came to the end of the chain.
 */
export function placeOfDenied(
  { metadata }: Pick<Decision, 'metadata'>,
  { places, payload }: Pick<WireRequest, 'places' | 'payload'>,
  judged: readonly ChatMessage[] = payload.messages,
): string | undefined {
  if (judged.length !== payload.messages.length) return undefined;
  const { value } = metadata;
  const index = isObject(value) ? value['message_index'] : undefined;
  if (typeof index === 'number' && Number.isInteger(index)) return places[index];
  const isAlone = places.length === 1 && payload.system_prompt === '' && payload.other.text === '{}';
  return isAlone ? places[0] : undefined;
}
