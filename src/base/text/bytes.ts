/** Yields lines without their ends; undefined for a line that is not UTF-8. */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  let pieces: Uint8Array[] = [];
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      pieces.push(chunk.subarray(from, end));
      yield decode(pieces);
      pieces = [];
      from = end + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield decode(pieces);
}

const newline = 0x0a;

function decode(pieces: readonly Uint8Array[]): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return undefined;
  }
}

/** Undefined as soon as there are more than `maxBytes`. */
export async function readAtMost(
  chunks: AsyncIterable<Uint8Array> | readonly never[],
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    read.push(chunk);
  }
  return concatBytes(read, length);
}

/** Returns a single chunk uncopied. `length` is the total, if known. */
export function concatBytes<Bytes extends Uint8Array>(
  chunks: readonly Bytes[],
  length?: number,
): Bytes | Buffer<ArrayBuffer> {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}
