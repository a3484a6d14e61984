/**
 * What any careful reader finds in printed bytes, written without the decoders that it judges: JSON.parse says whether a
 * text is JSON, and one walk over it finds the members of its objects with those that stand there twice.
 */
export type Reading =
  | { readonly kind: 'blank' }
  /** No JSON object; `text` is what was read, lossy where the bytes are none of their encoding. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly Member[] };

/** One member of an object: its key as it is read, and its value as the text that was printed. */
export interface Member {
  readonly key: string;
  readonly text: string;
}

export interface Read {
  readonly reading: Reading;
  /** Whether bytes were lost in reading. */
  readonly isGarbled: boolean;
  /** How deep the deepest bracket stands. */
  readonly depth: number;
}

/** Reads UTF-8, or UTF-16 behind its mark. */
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

/** The value of a JSON text; undefined when it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members of the text of a JSON object, in order, those that stand twice as well. */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  for (const part of partsOf(text)) {
    const end = endOfString(part, part.indexOf('"'));
    const key = part.slice(part.indexOf('"'), end);
    members.push({ key: String(JSON.parse(key)), text: part.slice(part.indexOf(':', end) + 1).trim() });
  }
  return members;
}

/** Whether a member stands twice in one of the objects of a JSON text, in whatever letters. */
export function hasTwins(text: string): boolean {
  if (text.startsWith('[')) return partsOf(text).some((part) => hasTwins(part.trim()));
  if (!text.startsWith('{')) return false;
  const members = membersOf(text);
  const keys = new Set(members.map(({ key }) => key.toLowerCase()));
  return keys.size < members.length || members.some((member) => hasTwins(member.text));
}

/** The texts between the outermost commas of a list or an object. */
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

/** The members of a reading; none where it is no object. */
export class Members {
  readonly all: readonly Member[];

  constructor(members: readonly Member[]) {
    this.all = members;
  }

  /** Of a key in exactly these letters the last value; undefined where there is none. */
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

  /** How often the key stands there, in whatever letters. */
  times(key: string): number {
    return this.all.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length;
  }

  /** The members of the object under that key; undefined where there is none. */
  inner(key: string): Members | undefined {
    const text = this.text(key);
    return text === undefined || !isRecord(jsonIn(text)) ? undefined : new Members(membersOf(text));
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
