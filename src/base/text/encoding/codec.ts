import { createRequire } from 'node:module';

export interface Encoding {
  readonly name: string;
  readonly mark: Buffer;
}

export interface ReadText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Returns undefined if the encoding lacks a character of the text. */
export function writeText(text: string, { name, mark }: Encoding): Buffer | undefined {
  const bytes = iconv().encode(text, name, { addBOM: false });
  return decode(bytes, name) === text ? Buffer.concat([mark, bytes]) : undefined;
}

/** Invalid bytes become U+FFFD. */
export function decode(bytes: Buffer, name: string): string {
  return iconv().decode(bytes, name, { stripBOM: false });
}

/** Returns undefined if encoding the text again gives other bytes. Unassigned bytes become U+FFFD. */
export function decodeExactly(bytes: Buffer, name: string): string | undefined {
  if (!iconv().encodingExists(name)) return undefined;
  const text = decode(bytes, name);
  if (!/^(?:utf|ucs)/i.test(name) && text.includes('\ufffd')) return undefined;
  return iconv().encode(text, name, { addBOM: false }).equals(bytes) ? text : undefined;
}

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

export const SAMPLE_BYTES = 64 * 1024;

const load = createRequire(import.meta.url);
let iconvLoaded: typeof import('iconv-lite') | undefined;
let chardetLoaded: typeof import('chardet') | undefined;

/** Supports encodings that Node lacks. Loaded for the first text that is not UTF-8. */
export function iconv(): typeof import('iconv-lite') {
  const loaded: typeof import('iconv-lite') = iconvLoaded ?? load('iconv-lite');
  iconvLoaded = loaded;
  return loaded;
}

export function chardet(): typeof import('chardet') {
  const loaded: typeof import('chardet') = chardetLoaded ?? load('chardet');
  chardetLoaded = loaded;
  return loaded;
}
