import { decode, decodeExactly, type ReadText, SAMPLE_BYTES, sampleOf, unmarked } from './codec.ts';
import { chardet, iconv } from './encodings.ts';
import { findWide } from './wide.ts';

/**
 * Reads bytes that are not UTF-8, by the declared charset, else by a detector's guesses. Undefined for an
 * unknown declared charset.
 */
export function guessText(bytes: Buffer, declared: string | undefined): ReadText | undefined {
  const charset = declared ?? findDeclaredCharset(bytes);
  const isIgnored = charset === undefined || /^(?:utf-?8|us-ascii|ascii)$/i.test(charset);
  if (!isIgnored && !iconv().encodingExists(charset))
    return declared === undefined ? guessText(bytes, 'utf-8') : undefined;
  const wide = findWide(bytes, declared);
  if (wide !== undefined) return wide;
  if (!isIgnored && !keepsAscii(charset)) return undefined;
  const isLatin = charset !== undefined && /^(?:iso-?8859-?1|latin-?1|l1|cp819)$/i.test(charset);
  const names = [
    ...(isIgnored || isLatin ? [] : [charset]),
    ...(isLatin ? [] : detect(bytes)),
    'windows-1252',
    'iso-8859-1',
  ];
  for (const name of names.filter((candidate) => isLikely(sampleOf(bytes), candidate))) {
    const text = decodeExactly(bytes, name);
    if (text !== undefined) return { text, encoding: unmarked(name) };
  }
  return undefined;
}

/** Otherwise plain text could call itself something else, and be read by a model as what it is. */
function keepsAscii(name: string): boolean {
  const ascii = String.fromCharCode(...Array.from({ length: 0x5f }, (_, index) => 0x20 + index));
  return decode(Buffer.from(ascii), name) === ascii;
}

/** Whether the beginning can be read so: a whole file takes long. Its last character may be cut in two. */
function isLikely(sample: Buffer, name: string): boolean {
  return iconv().encodingExists(name) && !decode(sample, name).slice(0, -4).includes('\ufffd');
}

/** The charset that XML or HTML declares in its beginning. */
function findDeclaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 1024);
  return (
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1] ??
    /<meta[^>]*\bcharset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1]
  );
}

/** The likeliest encodings in which ASCII is ASCII. */
function detect(bytes: Buffer): string[] {
  const [first = 0] = [bytes.findIndex((byte) => byte >= 0x80)];
  const from = Math.max(0, first - 1024);
  const found = chardet().analyse(bytes.subarray(from, from + SAMPLE_BYTES));
  return found
    .map(({ name }) => (name === 'ISO-8859-1' ? 'windows-1252' : name))
    .filter((name) => !/^(?:utf|iso-2022|ibm|ascii)/i.test(name))
    .slice(0, MAX_GUESSES);
}

/** Of a detector's guesses the later ones are worth little. */
const MAX_GUESSES = 3;
