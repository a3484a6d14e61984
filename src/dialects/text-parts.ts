import { isObject, Json, parseLossless } from '../base/json/json.ts';
import type { ChatMessage } from '../contract/provider.ts';

type Holder = Readonly<Record<string, unknown>>;

/**
 * Adds the message's text to `parts` (those of `tool_result` for a tool message), where PromptKit's own programs read
 * it. Returns a message that already has parts unchanged.
 */
export function withTextParts(message: ChatMessage): ChatMessage {
  const { content } = message;
  return content === '' ? message : changeParts(message, (holder) => addText(holder, content));
}

/** Removes the parts that `withTextParts` added to `original` from a hook's version of it. */
export function withoutTextParts(message: ChatMessage, original: ChatMessage): ChatMessage {
  if (withTextParts(original) === original) return message;
  const before = holderOf(original);
  return changeParts(message, (holder) => removeText(holder, before));
}

function changeParts(message: ChatMessage, change: (holder: Holder) => Holder): ChatMessage {
  const holder = holderOf(message);
  const changed = change(holder);
  if (changed === holder) return message;
  return message.role === 'tool' ? { ...message, tool_result: changed } : (changed as ChatMessage);
}

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
