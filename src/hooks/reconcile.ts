import type { ChatMessage } from '../contract/provider.ts';
import { withoutTextParts, withTextParts } from '../dialects/text-parts.ts';
import { partPlaces, textsAt, withTextAt } from './message.ts';

/**
 * Brings `content` and the text of the parts of replaced messages together again: a filter may change the
 * text in either place, and the changed copy wins. A message that needs nothing is the one that was given.
 * Throws Error when copies were changed differently, or when nothing tells which one was changed.
 */
export function reconcileMessages(
  originals: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ChatMessage[] {
  const sent = originals.map(withTextParts);
  const given = new Map(sent.map((message, index) => [message, originals[index]]));
  const findKin = indexKin(sent);
  const bare = originals.find((original, index) => original !== sent[index]);
  return replaced.map((message, index) => {
    const places = placesOf(message);
    if (places.length === 0) return message;
    // A list of the same length holds each message in its place; else it may be any of them.
    const near = sent.length === replaced.length ? sent[index] : undefined;
    const isAgreed = places.every(({ texts }) => agrees(message.content, texts));
    const kin = near !== undefined && isKin(near, message) ? [near] : findKin(message);
    const settled = isAgreed ? message : reconcile(message, kin);
    // Whatever had no parts before has none now, however a hook has spelt it.
    const [like = near] = kin;
    const original = like === undefined ? bare : given.get(like);
    return original === undefined ? settled : withoutTextParts(settled, original);
  });
}

/** Finds the messages of which a copy of the text is the same; of those with the same texts the first. */
function indexKin(sent: readonly ChatMessage[]): (message: ChatMessage) => readonly ChatMessage[] {
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
  const copies = places.map(({ place, texts }) => JSON.stringify([place, texts]));
  return message.content === '' ? copies : [JSON.stringify(message.content), ...copies];
}

function reconcile(message: ChatMessage, kin: readonly ChatMessage[]): ChatMessage {
  if (kin.length === 0) return requireAgreement(message);
  const texts = new Set(kin.map((original) => changedText(original, message)));
  const [text] = texts;
  if (texts.size > 1) throw new Error('nothing tells which text of a replaced message was changed');
  if (text === undefined) return message;
  const places = placesOf(message).filter(({ texts }) => !agrees(text, texts));
  return places.reduce((changed, { place }) => withTextAt(changed, place, text), {
    ...message,
    content: text,
  });
}

/** A new message may have parts without text beside its content, but not parts with another text. */
function requireAgreement(message: ChatMessage): ChatMessage {
  const fits = placesOf(message).every(({ texts }) => texts.length === 0 || agrees(message.content, texts));
  if (fits) return message;
  throw new Error('a replaced message says one thing in `content` and another in its parts');
}

/** The text of the copies that differ from the original's; undefined when none does. */
function changedText(original: ChatMessage, message: ChatMessage): string | undefined {
  const changed = placesOf(message)
    .filter(({ place, texts }) => !isSameText(texts, textsAt(original, place) ?? []))
    .map(({ texts }) => texts.join(''));
  if (message.content !== original.content) changed.push(message.content);
  if (new Set(changed).size > 1) {
    throw new Error('a replaced message says one thing in `content` and another in its parts');
  }
  return changed[0];
}

/** Whether a copy of the text is still the original's. */
function isKin(original: ChatMessage, message: ChatMessage): boolean {
  if (message.content !== '' && message.content === original.content) return true;
  return placesOf(message).some(
    ({ place, texts }) => texts.length > 0 && isSameText(texts, textsAt(original, place) ?? []),
  );
}

function placesOf(message: ChatMessage) {
  return partPlaces.flatMap((place) => {
    const texts = textsAt(message, place);
    return texts === undefined ? [] : [{ place, texts }];
  });
}

function agrees(content: string, texts: readonly string[]): boolean {
  return content === texts.join('') || content === texts.join('\n');
}

function isSameText(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
