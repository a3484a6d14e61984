import type { ChatMessage } from '../contract/provider.ts';
import { isObject } from '../json.ts';

/**
 * Brings `content` and the text of `parts` of replaced messages together again: a filter may change the
 * text in either place, and the changed copy wins. Throws Error when both were changed, differently.
 */
export function reconcileMessages(originals: readonly ChatMessage[], replaced: unknown): ChatMessage[] {
  if (!Array.isArray(replaced)) throw new Error('the replaced messages are not a list');
  return replaced.filter(isMessage).map((message) => reconcile(originals, message));
}

function reconcile(originals: readonly ChatMessage[], message: ChatMessage): ChatMessage {
  const parts = textParts(message);
  if (parts === undefined || agrees(message.content, parts)) return message;
  const keptContent = originals.some((original) => original.content === message.content);
  const keptParts = originals.some((original) => isSameText(textParts(original), parts));
  if (keptContent && !keptParts) return { ...message, content: parts.join('') };
  if (keptParts && !keptContent) return { ...message, parts: withText(message, message.content) };
  if (keptParts && keptContent) return message;
  throw new Error('a replaced message says one thing in `content` and another in `parts`');
}

function isMessage(value: unknown): value is ChatMessage {
  return isObject(value) && typeof value['content'] === 'string' && typeof value['role'] === 'string';
}

/** The texts of a message's text parts; undefined when it has none. */
function textParts(message: ChatMessage): string[] | undefined {
  const texts = partsOf(message)
    .filter((part) => isObject(part) && part['type'] === 'text')
    .map((part) => (isObject(part) ? String(part['text'] ?? '') : ''));
  return texts.length === 0 ? undefined : texts;
}

function partsOf(message: ChatMessage): readonly unknown[] {
  const { parts } = message;
  return Array.isArray(parts) ? parts : [];
}

function agrees(content: string, parts: readonly string[]): boolean {
  return content === parts.join('') || content === parts.join('\n');
}

function isSameText(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return (
    one !== undefined && one.length === other.length && one.every((text, index) => text === other[index])
  );
}

/** The parts with all text in the first text part. */
function withText(message: ChatMessage, text: string): unknown[] {
  let placed = false;
  return partsOf(message).flatMap((part) => {
    if (!isObject(part) || part['type'] !== 'text') return [part];
    if (placed) return [];
    placed = true;
    return [{ ...part, text }];
  });
}
