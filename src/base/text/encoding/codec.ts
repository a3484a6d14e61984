import { createRequire } from 'node:module';

/** How a text is encoded. */
export interface Encoding {
  readonly name: string;
  /** The byte order mark in front of it, which is no part of the text. */
  readonly mark: Buffer;
}

export interface ReadText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** The bytes of a text in that encoding; undefined when it lacks some of the characters. */
export function writeText(text: string, { name, mark }: Encoding): Buffer | undefined {
  const bytes = iconv().encode(text, name, { addBOM: false });
  return decode(bytes, name) === text ? Buffer.concat([mark, bytes]) : undefined;
}

/** Decodes bytes, with U+FFFD for what is invalid. */
export function decode(bytes: Buffer, name: string): string {
  return iconv().decode(bytes, name, { stripBOM: false });
}

/** The text, if it gives the same bytes when it is written again. A byte that stands for nothing reads as U+FFFD. */
export function decodeExactly(bytes: Buffer, name: string): string | undefined {
  if (!iconv().encodingExists(name)) return undefined;
  const text = decode(bytes, name);
  if (!/^(?:utf|ucs)/i.test(name) && text.includes('\ufffd')) return undefined;
  return iconv().encode(text, name, { addBOM: false }).equals(bytes) ? text : undefined;
}

/** An encoding without a mark. */
export function unmarked(name: string): Encoding {
  return { name, mark: Buffer.alloc(0) };
}

/** The first `SAMPLE_BYTES`, without a character that is cut in two. */
export function sampleOf(bytes: Buffer): Buffer {
  if (bytes.length <= SAMPLE_BYTES) return bytes;
  let end = SAMPLE_BYTES;
  while (end > SAMPLE_BYTES - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** How many bytes of a long file are examined. */
export const SAMPLE_BYTES = 64 * 1024;

const load = createRequire(import.meta.url);
let iconvLoaded: typeof import('iconv-lite') | undefined;
let chardetLoaded: typeof import('chardet') | undefined;

/** Reads and writes encodings that Node does not have. Loaded when the first text is met that is not UTF-8. */
export function iconv(): typeof import('iconv-lite') {
  const loaded: typeof import('iconv-lite') = iconvLoaded ?? load('iconv-lite');
  iconvLoaded = loaded;
  return loaded;
}

/** Guesses encodings; loaded likewise. */
export function chardet(): typeof import('chardet') {
  const loaded: typeof import('chardet') = chardetLoaded ?? load('chardet');
  chardetLoaded = loaded;
  return loaded;
}
