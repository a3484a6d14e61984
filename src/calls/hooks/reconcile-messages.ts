import type { ChatMessage } from '../../contract/provider.ts';
import { withoutTextParts, withTextParts } from '../../dialects/text-parts.ts';
import { partFields, textsAt, withTextAt } from './message.ts';

/**
 * Brings `content` and the text of the parts of replaced messages together again: a filter may change the
 * text in either place, and the changed copy wins. A message that needs no change is returned as it is.
 * Throws Error when copies were changed differently, or when the changed copy cannot be determined.
 */
export function reconcileMessages(
  originals: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ChatMessage[] {
  const sent = originals.map(withTextParts);
  const given = new Map(sent.map((message, index) => [message, originals[index]]));
  const findOriginals = createTextIndex(sent);
  const firstWithoutParts = originals.find((original, index) => original !== sent[index]);
  return replaced.map((message, index) => {
    const places = placesOf(message);
    if (places.length === 0) return message;
    // In a list of the same length a message replaces the one at its position; else it may replace any.
    const samePosition = sent.length === replaced.length ? sent[index] : undefined;
    const isAgreed = places.every(({ texts }) => matchesContent(message.content, texts));
    const candidates =
      samePosition !== undefined && sharesText(samePosition, message)
        ? [samePosition]
        : findOriginals(message);
    const reconciled = isAgreed ? message : reconcile(message, candidates);
    // A message that had no parts before gets none, even if the hook added them.
    const [candidate = samePosition] = candidates;
    const original = candidate === undefined ? firstWithoutParts : given.get(candidate);
    return original === undefined ? reconciled : withoutTextParts(reconciled, original);
  });
}

/** Finds the original messages that share a copy of the text; of identical ones only the first. */
function createTextIndex(sent: readonly ChatMessage[]): (message: ChatMessage) => readonly ChatMessage[] {
  let index: Map<string, Map<string, ChatMessage>> | undefined;
  return (message) => {
    index ??= buildIndex(sent);
    const found = keysOf(message).flatMap((key) => [...(index?.get(key)?.values() ?? [])]);
    return [...new Set(found)];
  };
}

function buildIndex(sent: readonly ChatMessage[]): Map<string, Map<string, ChatMessage>> {
  const index = new Map<string, Map<string, ChatMessage>>();
  for (const message of sent) {
    const keys = keysOf(message);
    const identity = JSON.stringify(keys);
    for (const key of keys) {
      const same = index.get(key) ?? new Map<string, ChatMessage>();
      if (!same.has(identity)) same.set(identity, message);
      index.set(key, same);
    }
  }
  return index;
}

function keysOf(message: ChatMessage): string[] {
  const places = placesOf(message).filter(({ texts }) => texts.length > 0);
  const copies = places.map(({ place: field, texts }) => JSON.stringify([field, texts]));
  return message.content === '' ? copies : [JSON.stringify(message.content), ...copies];
}

function reconcile(message: ChatMessage, candidates: readonly ChatMessage[]): ChatMessage {
  if (candidates.length === 0) return requireAgreement(message);
  const texts = new Set(candidates.map((original) => changedText(original, message)));
  const [text] = texts;
  if (texts.size > 1) throw new Error('nothing tells which text of a replaced message was changed');
  if (text === undefined) return message;
  const places = placesOf(message).filter(({ texts }) => !matchesContent(text, texts));
  return places.reduce((changed, { place: field }) => withTextAt(changed, field, text), {
    ...message,
    content: text,
  });
}

/** A new message may have parts without text beside its content, but not parts with another text. */
function requireAgreement(message: ChatMessage): ChatMessage {
  const fits = placesOf(message).every(
    ({ texts }) => texts.length === 0 || matchesContent(message.content, texts),
  );
  if (fits) return message;
  throw new Error('a replaced message says one thing in `content` and another in its parts');
}

/** The text of the copies that differ from the original's; undefined when none does. */
function changedText(original: ChatMessage, message: ChatMessage): string | undefined {
  const changed = placesOf(message)
    .filter(({ place: field, texts }) => !isSameText(texts, textsAt(original, field) ?? []))
    .map(({ texts }) => texts.join(''));
  if (message.content !== original.content) changed.push(message.content);
  if (new Set(changed).size > 1) {
    throw new Error('a replaced message says one thing in `content` and another in its parts');
  }
  return changed[0];
}

/** Whether the message shares its content, or the text of its parts, with the original. */
function sharesText(original: ChatMessage, message: ChatMessage): boolean {
  if (message.content !== '' && message.content === original.content) return true;
  return placesOf(message).some(
    ({ place: field, texts }) => texts.length > 0 && isSameText(texts, textsAt(original, field) ?? []),
  );
}

function placesOf(message: ChatMessage) {
  return partFields.flatMap((field) => {
    const texts = textsAt(message, field);
    return texts === undefined ? [] : [{ place: field, texts }];
  });
}

function matchesContent(content: string, texts: readonly string[]): boolean {
  return content === texts.join('') || content === texts.join('\n');
}

function isSameText(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
