import { decode, type Encoding, type ReadText, sampleOf, unmarked } from './codec.ts';
import { iconv } from './encodings.ts';
import { guessText } from './guess.ts';
import { decodeWide, findWide } from './wide.ts';

/**
 * Reads text whatever its encoding: by its mark, as UTF-8, by the charset that it or its type declares, by
 * its zero bytes, and at last by what a detector takes it for. Undefined where its charset is not known, or
 * where the bytes are other plain text to a reader that does not know the charset: hooks must read what a
 * model reads.
 */
export function readText(bytes: Buffer, declared: string | undefined): ReadText | undefined {
  const marked = byteOrderMarks.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
  const body = bytes.subarray(marked?.mark.length ?? 0);
  const plain = decodeUtf8(body);
  if (marked !== undefined) {
    if (marked.name === 'utf-8')
      return plain === undefined ? guessText(bytes, declared) : { text: plain, encoding: marked };
    const text = decodeWide(body, marked.name);
    return text === undefined || isAmbiguousUtf8(plain, text) ? undefined : { text, encoding: marked };
  }
  if (plain === undefined) return guessText(bytes, declared);
  const wide = findWide(bytes, declared);
  if (wide !== undefined) return wide;
  return isAmbiguousCharset(bytes, plain, declared)
    ? undefined
    : { text: plain, encoding: unmarked('utf-8') };
}

/** Reads bytes without a declared text type; undefined when they are not text. */
export function detectText(bytes: Buffer): ReadText | undefined {
  if (bytes.length === 0 || bytes.subarray(0, 5).equals(Buffer.from('%PDF-'))) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what text has not.
  const binaryCharacter = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]/;
  if (binaryCharacter.test(readText(sampleOf(bytes), undefined)?.text ?? '\0')) return undefined;
  const read = readText(bytes, undefined);
  if (read === undefined || binaryCharacter.test(read.text)) return undefined;
  return read.encoding.name.startsWith('utf-') || isMostlyAscii(bytes) ? read : undefined;
}

function isMostlyAscii(bytes: Buffer): boolean {
  const sample = sampleOf(bytes);
  return sample.filter((byte) => byte < 0x80).length >= sample.length * 0.7;
}

/** The longer mark of UTF-32 stands before that of UTF-16, with which it begins. */
const byteOrderMarks: readonly Encoding[] = [
  { name: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { name: 'utf-32le', mark: Buffer.from([0xff, 0xfe, 0, 0]) },
  { name: 'utf-32be', mark: Buffer.from([0, 0, 0xfe, 0xff]) },
  { name: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { name: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
];

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether the bytes read as UTF-8 give another text than `text`, so that hooks and models may differ. */
function isAmbiguousUtf8(plain: string | undefined, text: string): boolean {
  return plain !== undefined && plain !== '' && plain !== text && !plain.includes('\0');
}

/** Charsets in which ASCII bytes may be other characters, or other bytes ASCII. */
function isAmbiguousCharset(bytes: Buffer, plain: string, declared: string | undefined): boolean {
  if (
    declared === undefined ||
    !/^(?:utf-?(?:7|16|32)|ucs|iso-?2022|hz|csiso2022|unicode-1-1-utf-7|cp?65000)/i.test(declared)
  )
    return false;
  return !iconv().encodingExists(declared) || decode(bytes, declared) !== plain;
}
