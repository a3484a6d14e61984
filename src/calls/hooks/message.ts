import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';

/** A message with its whole text in `content`, taken from its parts where it is missing or empty. */
export function completeMessage(message: Readonly<Record<string, unknown>>): ChatMessage {
  const { content } = message;
  const text = content === undefined || content === '' ? partTexts(message).join('') : content;
  // The caller has checked what a message must have; `content` is all that may be left out.
  return { ...(message as ChatMessage), content: text as string };
}

/** Parses a message: `role` and `content` are plain strings, all other members keep their exact text. */
export function parseMessage(text: string): ChatMessage {
  const { role, content } = JSON.parse(text) as ChatMessage;
  return { ...Object.fromEntries(exactMembers(new Json(text))), role, content };
}

/** The members that may hold a message's text a second time, beside `content`. */
export const partFields = ['parts', 'tool_result'] as const;
export type PartField = (typeof partFields)[number];

/** The texts of the parts in that member; undefined if it has no list of parts. */
export function textsAt(message: Readonly<Record<string, unknown>>, field: PartField): string[] | undefined {
  const parts = partsOf(plain(message[field]), field);
  if (!Array.isArray(parts)) return undefined;
  return parts.flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
}

/** The message with `text` in the first text part of that member, and its other text parts removed. */
export function withTextAt(message: ChatMessage, field: PartField, text: string): ChatMessage {
  const holder = exact(message[field]);
  const parts = putText(partsOf(holder, field), text);
  return { ...message, [field]: isObject(holder) ? { ...holder, parts } : parts };
}

/** A message's own parts, or where they hold no text those of its tool result. */
function partTexts(message: Readonly<Record<string, unknown>>): string[] {
  const [texts = []] = partFields
    .map((place) => textsAt(message, place))
    .filter((found) => found !== undefined && found.length > 0);
  return texts;
}

function partsOf(holder: unknown, field: PartField): unknown {
  return field === 'tool_result' ? isObject(holder) && holder['parts'] : holder;
}

function putText(parts: unknown, text: string): unknown[] {
  let isPlaced = false;
  return (Array.isArray(parts) ? parts : []).flatMap((part) => {
    if (!isObject(part) || typeof part['text'] !== 'string') return [part];
    if (isPlaced) return [];
    isPlaced = true;
    return [{ ...part, text }];
  });
}

function plain(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

function exact(value: unknown): unknown {
  return value instanceof Json ? parseLossless(value.text) : value;
}
