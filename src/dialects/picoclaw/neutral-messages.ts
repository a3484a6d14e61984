import type { ChatMessage } from '../../contract/provider.ts';
import { isObject, Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import { isSame } from './json-parts.ts';
import { countFiles, type PromptParts, promptMessages, type ReadMessage, toMessage } from './wire/message.ts';

/**
 * A replacement in neutral form, and the number of images and files lost because PicoClaw cannot carry them.
 */
export interface NeutralReplacement {
  readonly replace: Readonly<Record<string, unknown>>;
  readonly droppedFiles: number;
}

/**
 * A prompt after the hooks, in neutral form. System messages at its beginning are the system prompt. A
 * message with the position, role and text it had keeps the members that an MSG cannot carry.
 */
export function toNeutralMessages(prompt: PromptParts, given: readonly ReadMessage[]): NeutralReplacement {
  const originals = promptMessages(prompt);
  const pairs = given.map((message, index) => toNeutralOne(message, originals[index], { given, originals }));
  const firstOther = given.findIndex(({ role }) => role !== 'system');
  const leads = firstOther === -1 ? given.length : firstOther;
  const system_prompt = given
    .slice(0, leads)
    .map(({ content }) => content)
    .join('\n\n');
  const kept = pairs.reduce((count, message) => count + countFiles(message), 0);
  const before = originals.reduce((count, message) => count + countFiles(message), 0);
  const changesSystem = system_prompt !== prompt.system_prompt;
  return {
    replace: { messages: pairs.slice(leads), ...(changesSystem && { system_prompt }) },
    droppedFiles: before - kept,
  };
}

interface MessageLists {
  readonly given: readonly ReadMessage[];
  readonly originals: readonly ChatMessage[];
}

function toNeutralOne(
  message: ReadMessage,
  original: ChatMessage | undefined,
  lists: MessageLists,
): ChatMessage {
  if (original !== undefined && isSame(message.json, Json.from(toMessage(original)))) return original;
  const { role, content, reasoning, calls, callId } = message;
  const isUnchanged = original !== undefined && original.role === role && original.content === content;
  const {
    tool_calls: _calls,
    reasoning: _reasoning,
    tool_result,
    ...others
  } = isUnchanged ? original : { role, content };
  const result = isUnchanged && idOf(tool_result) === callId ? tool_result : resultOf(message, lists);
  return {
    ...others,
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(role === 'tool' && { tool_result: result }),
  };
}

/** Of which call a tool message is the result, and what else was known of it. */
function resultOf({ callId, content }: ReadMessage, { given, originals }: MessageLists) {
  const known = originals.find(
    ({ tool_result }) => tool_result !== undefined && idOf(tool_result) === callId,
  );
  const call = given.flatMap(({ calls }) => calls).find(({ id }) => id === callId);
  if (known === undefined) return { id: callId, name: call?.name ?? '', latency_ms: 0 };
  const { parts: _parts, ...rest } = membersOf(Json.from(known['tool_result']));
  return rest['error'] === undefined || rest['error'].value === '' ? rest : { ...rest, error: content };
}

function idOf(result: unknown): unknown {
  if (result === undefined) return undefined;
  const { value } = Json.from(result);
  return isObject(value) ? value['id'] : undefined;
}
