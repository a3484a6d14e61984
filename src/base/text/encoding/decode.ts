import {
  chardet,
  decode,
  decodeExactly,
  type Encoding,
  iconv,
  type ReadText,
  SAMPLE_BYTES,
  sampleOf,
  unmarked,
} from './codec.ts';

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

/**
 * Reads bytes that are not UTF-8, by the declared charset, else by a detector's guesses. Undefined for an
 * unknown declared charset.
 */
function guessText(bytes: Buffer, declared: string | undefined): ReadText | undefined {
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

/** UTF-16 and UTF-32 without a mark: their zero bytes stand in turn with others. */
function findWide(bytes: Buffer, declared: string | undefined): ReadText | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 1, 2, 3].map(
    (at) => sample.filter((byte, index) => byte === 0 && index % 4 === at).length,
  );
  const [a = 0, b = 0, c = 0, d = 0] = zeros;
  if (a + b + c + d === 0) return undefined;
  const isFull = (count: number) => count >= Math.floor(sample.length / 4);
  const names = [
    ...(declared !== undefined && /^(?:utf|ucs)-?(?:16|32|2|4)/i.test(declared) ? [declared] : []),
    ...(isFull(c) && isFull(d) && !isFull(a) ? ['utf-32le'] : []),
    ...(isFull(a) && isFull(b) && !isFull(d) ? ['utf-32be'] : []),
    ...(b + d > 4 * (a + c) ? ['utf-16le'] : []),
    ...(a + c > 4 * (b + d) ? ['utf-16be'] : []),
  ];
  for (const name of names) {
    const text = decodeWide(bytes, name);
    if (text !== undefined && !text.includes('\0')) return { text, encoding: unmarked(name) };
  }
  return undefined;
}

/**
 * Decodes UTF-16 or UTF-32; undefined where plain ASCII text stands among the bytes, which a model would
 * read.
 */
function decodeWide(bytes: Buffer, name: string): string | undefined {
  return plainRun.test(bytes.toString('latin1')) ? undefined : decodeExactly(bytes, name);
}

/** Two such bytes are one Chinese character, perhaps; that many of these in a row are no text. */
const plainRun = /[\t\r\n -~]{24}|[-0-9 ]{8}/;
