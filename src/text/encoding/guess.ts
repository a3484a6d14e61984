import { decode, decodeExactly, type ReadText, SAMPLE_BYTES, sampleOf, unmarked } from './codec.ts';
import { chardet, iconv } from './encodings.ts';
import { findWide } from './wide.ts';

/**
 * Reads what is no UTF-8, by the charset that is declared, else by what a detector takes it for. Undefined for a
 * declared charset that nobody knows.
 */
export function guessText(bytes: Buffer, declared: string | undefined): ReadText | undefined {
  const said = declared ?? findInside(bytes);
  const isIgnored = said === undefined || /^(?:utf-?8|us-ascii|ascii)$/i.test(said);
  if (!isIgnored && !iconv().encodingExists(said))
    return declared === undefined ? guessText(bytes, 'utf-8') : undefined;
  const wide = findWide(bytes, declared);
  if (wide !== undefined) return wide;
  if (!isIgnored && !keepsAscii(said)) return undefined;
  const isLatin = said !== undefined && /^(?:iso-?8859-?1|latin-?1|l1|cp819)$/i.test(said);
  const names = [
    ...(isIgnored || isLatin ? [] : [said]),
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

/** What XML and HTML say of themselves. */
function findInside(bytes: Buffer): string | undefined {
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
    .slice(0, MOST_GUESSES);
}

/** Of a detector's guesses the later ones are worth little. */
const MOST_GUESSES = 3;
