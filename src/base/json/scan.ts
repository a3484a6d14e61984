import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, endOfString, endOfValue, skipSpace } from './ends.ts';
import { isObject, Json, keepExactForm } from './json.ts';
import { decodeString } from './tokens.ts';

export interface Member {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** The members of the object that starts at `from`, in order, duplicates included. The text must be valid JSON. */
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

/** The last member with that key, as `JSON.parse` keeps it. */
export function memberOf(text: string, members: readonly Member[], key: string): Json | undefined {
  const member = members.findLast((candidate) => candidate.key === key);
  return member && new Json(text.slice(member.start, member.end));
}

/** Members with their exact text, the last of each key. Empty for a value that is not an object. */
export function membersOf(json: Json): Readonly<Record<string, Json>> {
  return isObject(json.value) ? Object.fromEntries(exactMembers(json)) : {};
}

/** Like `membersOf`, but does not parse; the value must be an object. */
export function exactMembers(json: Json): ReadonlyMap<string, Json> {
  return new Map(scanMembers(json.skeleton).map(({ key, start, end }) => [key, json.slice(start, end)]));
}

export function elementsOf(json: Json): Json[] {
  return scanElements(json.skeleton).map(({ start, end }) => json.slice(start, end));
}

/** Makes `stringifyJson` write `json` for its parsed value, and its parts for what is in it, so many levels down. */
export function keepExactForms(value: unknown, json: Json, levels: number): void {
  if (typeof value !== 'object' || value === null || levels < 0) return;
  keepExactForm(value, json);
  const parts = Array.isArray(value) ? elementsOf(json).entries() : exactMembers(json);
  for (const [name, part] of parts) keepExactForms(Reflect.get(value, name), part, levels - 1);
}
