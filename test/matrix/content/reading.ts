/**
 * The contents of printed bytes, read independently of the decoders under test. JSON.parse checks the text, and one
 * walk finds members, duplicates included.
 */
export type Reading =
  | { readonly kind: 'blank' }
  /** Not a JSON object. `text` is decoded lossily from invalid bytes. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly Member[] };

/** A member with its parsed key and the verbatim text of its value. */
export interface Member {
  readonly key: string;
  readonly text: string;
}

export interface Read {
  readonly reading: Reading;
  /** Whether decoding lost bytes. */
  readonly isGarbled: boolean;
  readonly depth: number;
}

/** Reads UTF-8, or UTF-16 with a byte order mark. */
export function read(bytes: Uint8Array): Read {
  const utf16 = [0xfffe, 0xfeff].indexOf(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
  const encoding = bytes.length < 2 || utf16 === -1 ? 'utf-8' : (['utf-16le', 'utf-16be'] as const)[utf16];
  const isGarbled = !isWhole(bytes, encoding);
  const text = new TextDecoder(encoding).decode(bytes).trim();
  return { reading: readText(text), isGarbled, depth: depthOf(text) };
}

function isWhole(bytes: Uint8Array, encoding: string | undefined): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export function readText(text: string): Reading {
  if (text === '') return { kind: 'blank' };
  if (!text.startsWith('{') || jsonIn(text) === undefined) return { kind: 'text', text };
  return { kind: 'object', members: membersOf(text) };
}

export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members of a JSON object in order, duplicates included. */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  for (const part of partsOf(text)) {
    const end = endOfString(part, part.indexOf('"'));
    const key = part.slice(part.indexOf('"'), end);
    members.push({ key: String(JSON.parse(key)), text: part.slice(part.indexOf(':', end) + 1).trim() });
  }
  return members;
}

/** Whether any object of a JSON text has duplicate keys, regardless of letter case. */
export function hasTwins(text: string): boolean {
  if (text.startsWith('[')) return partsOf(text).some((part) => hasTwins(part.trim()));
  if (!text.startsWith('{')) return false;
  const members = membersOf(text);
  const keys = new Set(members.map(({ key }) => key.toLowerCase()));
  return keys.size < members.length || members.some((member) => hasTwins(member.text));
}

export function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at) - 1;
    else if ('[{'.includes(character)) depth += 1;
    else if (']}'.includes(character)) depth -= 1;
    const isBorder = (character === ',' && depth === 1) || depth === 0;
    if (!isBorder) continue;
    const part = text.slice(start, at);
    if (part.trim() !== '') parts.push(part);
    start = at + 1;
  }
  return parts;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at) - 1;
    else if ('[{'.includes(character)) depth += 1;
    else if (']}'.includes(character)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

export class Members {
  readonly all: readonly Member[];

  constructor(members: readonly Member[]) {
    this.all = members;
  }

  get(key: string): unknown {
    const text = this.text(key);
    return text === undefined ? undefined : jsonIn(text);
  }

  text(key: string): string | undefined {
    return this.all.findLast((member) => member.key === key)?.text;
  }

  has(key: string): boolean {
    return this.all.some((member) => member.key === key);
  }

  /** The number of members with this key in any letter case. */
  times(key: string): number {
    return this.all.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length;
  }

  inner(key: string): Members | undefined {
    const text = this.text(key);
    return text === undefined || !isRecord(jsonIn(text)) ? undefined : new Members(membersOf(text));
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
