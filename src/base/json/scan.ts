import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, endOfString, endOfValue, skipSpace } from './ends.ts';
import { isObject, Json } from './json.ts';
import { decodeString } from './tokens.ts';

/** A member of a JSON object: its key, and where its value stands in the text. */
export interface Member {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Walks the top level of the object that starts at `from` and yields its members in order, duplicates
 * included. The text must already have passed `JSON.parse`.
 */
export function scanMembers(text: string, from = 0): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, from) + 1;
  for (;;) {
    at = skipSpace(text, at);
    const opener = text.charCodeAt(at);
    if (opener === CLOSE_BRACE || at >= text.length) return members;
    if (opener === COMMA) {
      at += 1;
      continue;
    }
    const keyEnd = endOfString(text, at);
    const key = decodeString(text, at, keyEnd);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key, start, end });
    at = end;
  }
}

/** The elements of the array that starts at `from`, as positions in the text. */
export function scanElements(text: string, from = 0): { start: number; end: number }[] {
  const elements: { start: number; end: number }[] = [];
  let at = skipSpace(text, from) + 1;
  for (;;) {
    at = skipSpace(text, at);
    const opener = text.charCodeAt(at);
    if (opener === CLOSE_BRACKET || at >= text.length) return elements;
    if (opener === COMMA) {
      at += 1;
      continue;
    }
    const end = endOfValue(text, at);
    elements.push({ start: at, end });
    at = end;
  }
}

/** The last member of that key, as `Json`: what `JSON.parse` would have kept. */
export function memberOf(text: string, members: readonly Member[], key: string): Json | undefined {
  const member = members.findLast((candidate) => candidate.key === key);
  return member && new Json(text.slice(member.start, member.end));
}

/** The members of an object with their exact text, the last of each key; empty for any other value. */
export function membersOf(json: Json): Readonly<Record<string, Json>> {
  return isObject(json.value) ? Object.fromEntries(exactMembers(json)) : {};
}

/** The same for what is known to be an object, without parsing it. */
export function exactMembers(json: Json): ReadonlyMap<string, Json> {
  return new Map(scanMembers(json.skeleton).map(({ key, start, end }) => [key, json.slice(start, end)]));
}

/** The elements of an array, each with the text it had. */
export function elementsOf(json: Json): Json[] {
  return scanElements(json.skeleton).map(({ start, end }) => json.slice(start, end));
}
