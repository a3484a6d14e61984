import { isObject, Json } from './json.ts';

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
    const key = decodeKey(text, at, keyEnd);
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
  if (!isObject(json.value)) return {};
  const { text } = json;
  const parts = scanMembers(text).map(({ key, start, end }) => [key, new Json(text.slice(start, end))]);
  return Object.fromEntries(parts);
}

/** The elements of an array, each with the text it had. */
export function elementsOf({ text }: Json): Json[] {
  return scanElements(text).map(({ start, end }) => new Json(text.slice(start, end)));
}

/**
 * The path of the first duplicate key of an object, at any depth, such as `user.name`. One pass and no
 * recursion, since the text may be nested to any depth.
 */
export function findDuplicateKey(text: string): string | undefined {
  const open: Container[] = [];
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const inner = open.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (inner?.awaitsKey && isDuplicateKey(inner, decodeKey(text, at, end))) return pathOf(open);
      at = end;
      continue;
    }
    if (code === OPEN_BRACE) open.push({ keys: new Set(), awaitsKey: true, label: '' });
    else if (code === OPEN_BRACKET) open.push({ awaitsKey: false, label: 0 });
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop();
    else if (code === COMMA && inner) advance(inner);
    at += 1;
  }
  return undefined;
}

/** An open object or array of the scan. */
interface Container {
  readonly keys?: Set<string>;
  /** Whether the next string is a key. */
  awaitsKey: boolean;
  /** The current key or index. */
  label: string | number;
}

function isDuplicateKey(object: Container, key: string): boolean {
  object.label = key;
  object.awaitsKey = false;
  if (object.keys?.has(key)) return true;
  object.keys?.add(key);
  return false;
}

function advance(inner: Container): void {
  if (typeof inner.label === 'number') inner.label += 1;
  else inner.awaitsKey = true;
}

function pathOf(open: readonly Container[]): string {
  return open
    .map(({ label }) => (typeof label === 'number' ? `[${label}]` : `.${label}`))
    .join('')
    .replace(/^\./, '');
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The position of the next character that is no white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return at;
}

function decodeKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? String(JSON.parse(text.slice(start, end))) : raw;
}

/** The position after the string that starts at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** The position after the value that starts at `start`. */
export function endOfValue(text: string, start: number): number {
  const opener = text.charCodeAt(start);
  if (opener === QUOTE) return endOfString(text, start);
  if (opener === OPEN_BRACE || opener === OPEN_BRACKET) return endOfContainer(text, start);
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20) break;
  }
  return at;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    at += 1;
  }
  return at;
}
