import { decodeExactly, type ReadText, SAMPLE_BYTES, unmarked } from './codec.ts';

/** UTF-16 and UTF-32 without a mark: their zero bytes stand in turn with others. */
export function findWide(bytes: Buffer, declared: string | undefined): ReadText | undefined {
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
export function decodeWide(bytes: Buffer, name: string): string | undefined {
  return plainRun.test(bytes.toString('latin1')) ? undefined : decodeExactly(bytes, name);
}

/** Two such bytes are one Chinese character, perhaps; that many of these in a row are no text. */
const plainRun = /[\t\r\n -~]{24}|[-0-9 ]{8}/;
