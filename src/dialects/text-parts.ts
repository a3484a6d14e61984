import type { ChatMessage } from '../contract/provider.ts';
import { isObject, Json, parseLossless } from '../json/json.ts';

type Holder = Readonly<Record<string, unknown>>;

/**
 * The message as native hooks are sent it: its text stands in parts too, those of the result where it is a tool's.
 * That is where PromptKit's own programs look for it. The message itself where it has parts already.
 */
export function withTextParts(message: ChatMessage): ChatMessage {
  const { content } = message;
  return content === '' ? message : changeParts(message, (holder) => addText(holder, content));
}

/** A message that a hook has made of `original`, without the parts that `withTextParts` had added to that. */
export function withoutTextParts(message: ChatMessage, original: ChatMessage): ChatMessage {
  if (withTextParts(original) === original) return message;
  const before = holderOf(original);
  return changeParts(message, (holder) => takeText(holder, before));
}

function changeParts(message: ChatMessage, change: (holder: Holder) => Holder): ChatMessage {
  const holder = holderOf(message);
  const changed = change(holder);
  if (changed === holder) return message;
  // A message keeps its role and content, since only parts are changed.
  return message.role === 'tool' ? { ...message, tool_result: changed } : (changed as ChatMessage);
}

/** What has the parts of a message. */
function holderOf(message: ChatMessage): Holder {
  if (message.role !== 'tool') return message;
  const result = exact(message['tool_result']);
  return isObject(result) ? result : {};
}

function addText(holder: Holder, text: string): Holder {
  return partsOf(holder)?.length === 0 ? { ...holder, parts: [{ type: 'text', text }] } : holder;
}

function takeText(holder: Holder, before: Holder): Holder {
  const given = partsOf(holder) ?? [];
  if (given.length === 0 || !given.every(isPlainText)) return holder;
  const { parts: _, ...others } = holder;
  return 'parts' in before ? { ...others, parts: before['parts'] } : others;
}

/** Empty where there is no list, undefined where something else stands in its place. */
function partsOf(holder: Holder): readonly unknown[] | undefined {
  const parts = exact(holder['parts']);
  if (parts === undefined || parts === null) return [];
  return Array.isArray(parts) ? parts : undefined;
}

function isPlainText(part: unknown): boolean {
  return isObject(part) && Object.keys(part).length === 2 && part['type'] === 'text' && 'text' in part;
}

function exact(value: unknown): unknown {
  return value instanceof Json ? parseLossless(value.text) : value;
}
