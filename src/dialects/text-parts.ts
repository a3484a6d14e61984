import { isObject, Json, parseLossless } from '../base/json/json.ts';
import type { ChatMessage } from '../contract/provider.ts';

type Holder = Readonly<Record<string, unknown>>;

/**
 * The message as it is sent to native hooks: its text is also in `parts` (in those of `tool_result` for a
 * tool message), where PromptKit's own programs read it. A message that has parts already is returned as it
 * is.
 */
export function withTextParts(message: ChatMessage): ChatMessage {
  const { content } = message;
  return content === '' ? message : changeParts(message, (holder) => addText(holder, content));
}

/** A message that a hook has made of `original`, without the parts that `withTextParts` had added to that. */
export function withoutTextParts(message: ChatMessage, original: ChatMessage): ChatMessage {
  if (withTextParts(original) === original) return message;
  const before = holderOf(original);
  return changeParts(message, (holder) => removeText(holder, before));
}

function changeParts(message: ChatMessage, change: (holder: Holder) => Holder): ChatMessage {
  const holder = holderOf(message);
  const changed = change(holder);
  if (changed === holder) return message;
  // A message keeps its role and content, since only parts are changed.
  return message.role === 'tool' ? { ...message, tool_result: changed } : (changed as ChatMessage);
}

/** The object that holds the `parts`: the tool result of a tool message, else the message itself. */
function holderOf(message: ChatMessage): Holder {
  if (message.role !== 'tool') return message;
  const result = toExactValue(message['tool_result']);
  return isObject(result) ? result : {};
}

function addText(holder: Holder, text: string): Holder {
  return partsOf(holder)?.length === 0 ? { ...holder, parts: [{ type: 'text', text }] } : holder;
}

function removeText(holder: Holder, before: Holder): Holder {
  const given = partsOf(holder) ?? [];
  if (given.length === 0 || !given.every(isPlainText)) return holder;
  const { parts: _, ...others } = holder;
  return 'parts' in before ? { ...others, parts: before['parts'] } : others;
}

/** The parts; empty when there are none, undefined when `parts` is not a list. */
function partsOf(holder: Holder): readonly unknown[] | undefined {
  const parts = toExactValue(holder['parts']);
  if (parts === undefined || parts === null) return [];
  return Array.isArray(parts) ? parts : undefined;
}

function isPlainText(part: unknown): boolean {
  return isObject(part) && Object.keys(part).length === 2 && part['type'] === 'text' && 'text' in part;
}

function toExactValue(value: unknown): unknown {
  return value instanceof Json ? parseLossless(value.text) : value;
}
