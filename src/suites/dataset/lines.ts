/** One line without its line feed. `bytes` is undefined if it was too long to keep. */
export interface Line {
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/** Splits a byte stream at line feeds. Drops the bytes of a line longer than `maxBytes`. */
export async function* splitLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 0;
  let buffer = newBoundedBuffer(maxBytes);
  const finish = (): Line => {
    const bytes = buffer.finish();
    buffer = newBoundedBuffer(maxBytes);
    number += 1;
    return { number, bytes };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      buffer.add(chunk.subarray(start, end));
      yield finish();
      start = end + 1;
    }
    buffer.add(chunk.subarray(start));
  }
  if (buffer.size() > 0) yield finish();
}

const LINE_FEED = 0x0a;

export interface BoundedBuffer {
  add(part: Buffer): void;
  size(): number;
  finish(): Buffer | undefined;
}

/** Holds up to `maxBytes`; `finish` returns undefined if there were more. */
export function newBoundedBuffer(maxBytes: number): BoundedBuffer {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    add(part) {
      size += part.length;
      if (size > maxBytes) parts = [];
      else if (part.length > 0) parts.push(part);
    },
    size: () => size,
    finish() {
      if (size > maxBytes) return undefined;
      return parts.length === 1 ? parts[0] : Buffer.concat(parts);
    },
  };
}

export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}
