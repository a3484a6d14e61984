import type { ChatMessage } from '../contract/provider.ts';
import { isObject, Json, parseLossless } from '../json/json.ts';
import { scanMembers } from '../json/scan.ts';

/** A message with its whole text in `content`, taken from its parts where it is missing or empty. */
export function completeMessage(message: Readonly<Record<string, unknown>>): ChatMessage {
  const { content } = message;
  const text = content === undefined || content === '' ? partTexts(message).join('') : content;
  // The caller has checked what a message must have; `content` is all that may be left out.
  return { ...(message as ChatMessage), content: text as string };
}

/** A message that a filter wrote: its members keep their bytes, but for `role` and `content`, which are plain. */
export function parseMessage(text: string): ChatMessage {
  const members = scanMembers(text).map(({ key, start, end }) => [key, new Json(text.slice(start, end))]);
  const { role, content } = JSON.parse(text) as ChatMessage;
  return { ...Object.fromEntries(members), role, content };
}

/** Where a message's text stands a second time. */
export const partPlaces = ['parts', 'tool_result'] as const;
export type PartPlace = (typeof partPlaces)[number];

/** The texts of the parts that stand there; undefined without a list of parts. */
export function textsAt(message: Readonly<Record<string, unknown>>, place: PartPlace): string[] | undefined {
  const parts = partsOf(plain(message[place]), place);
  if (!Array.isArray(parts)) return undefined;
  return parts.flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
}

/** The message with all text of the parts that stand there in the first part that has any. */
export function withTextAt(message: ChatMessage, place: PartPlace, text: string): ChatMessage {
  const holder = exact(message[place]);
  const parts = placeText(partsOf(holder, place), text);
  return { ...message, [place]: isObject(holder) ? { ...holder, parts } : parts };
}

/** A message's own parts, or where they hold no text those of its tool result. */
function partTexts(message: Readonly<Record<string, unknown>>): string[] {
  const [texts = []] = partPlaces
    .map((place) => textsAt(message, place))
    .filter((found) => found !== undefined && found.length > 0);
  return texts;
}

function partsOf(holder: unknown, place: PartPlace): unknown {
  return place === 'tool_result' ? isObject(holder) && holder['parts'] : holder;
}

function placeText(parts: unknown, text: string): unknown[] {
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
