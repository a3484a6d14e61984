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
 * Decodes text by its byte order mark, as UTF-8, by the declared charset, by its zero bytes, and finally by a
 * detector's guess. Returns undefined for an unknown charset, or if a reader that ignores the charset would see other
 * plain text: hooks must read what a model reads.
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

/** UTF-32 comes before UTF-16, whose mark is its prefix. */
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

function isAmbiguousUtf8(plain: string | undefined, text: string): boolean {
  return plain !== undefined && plain !== '' && plain !== text && !plain.includes('\0');
}

/** In these charsets ASCII bytes may be other characters, or other bytes may be ASCII. */
function isAmbiguousCharset(bytes: Buffer, plain: string, declared: string | undefined): boolean {
  if (
    declared === undefined ||
    !/^(?:utf-?(?:7|16|32)|ucs|iso-?2022|hz|csiso2022|unicode-1-1-utf-7|cp?65000)/i.test(declared)
  )
    return false;
  return !iconv().encodingExists(declared) || decode(bytes, declared) !== plain;
}

/** Uses the declared charset, else a detector's guesses. Returns undefined for an unknown declared charset. */
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

/** Without this check, plain text could declare another charset, and a model would still read it as plain text. */
function keepsAscii(name: string): boolean {
  const ascii = String.fromCharCode(...Array.from({ length: 0x5f }, (_, index) => 0x20 + index));
  return decode(Buffer.from(ascii), name) === ascii;
}

/** Tests only a sample, since a whole file takes long. The sample's last character may be cut. */
function isLikely(sample: Buffer, name: string): boolean {
  return iconv().encodingExists(name) && !decode(sample, name).slice(0, -4).includes('\ufffd');
}

function findDeclaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 1024);
  return (
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1] ??
    /<meta[^>]*\bcharset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1]
  );
}

function detect(bytes: Buffer): string[] {
  const [first = 0] = [bytes.findIndex((byte) => byte >= 0x80)];
  const from = Math.max(0, first - 1024);
  const found = chardet().analyse(bytes.subarray(from, from + SAMPLE_BYTES));
  return found
    .map(({ name }) => (name === 'ISO-8859-1' ? 'windows-1252' : name))
    .filter((name) => !/^(?:utf|iso-2022|ibm|ascii)/i.test(name))
    .slice(0, MAX_GUESSES);
}

const MAX_GUESSES = 3;

/** Detects UTF-16 and UTF-32 without a mark: zero bytes alternate with others. */
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

/** Returns undefined if the bytes contain plain ASCII text, which a model would read. */
function decodeWide(bytes: Buffer, name: string): string | undefined {
  return plainRun.test(bytes.toString('latin1')) ? undefined : decodeExactly(bytes, name);
}

/** Two such bytes may be one Chinese character, but a run of this length is not UTF-16 or UTF-32 text. */
const plainRun = /[\t\r\n -~]{24}|[-0-9 ]{8}/;
