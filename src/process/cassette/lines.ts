import type { FileHandle } from 'node:fs/promises';

/** The position of a line in its file, in bytes, without the newline. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Called in order for lines that are not blank, from number 1. The bytes are valid only during the call. */
type OnLine = (line: Buffer, place: ByteRange, number: number) => void;

/** Reads bytes at a position into a buffer. Resolves to the number of bytes read, 0 at the end. */
export type ReadAt = (into: Buffer, position: number) => Promise<number>;

export function readerOf(source: FileHandle | Buffer): ReadAt {
  if (Buffer.isBuffer(source)) return async (into, position) => source.copy(into, 0, position);
  return async (into, position) => (await source.read(into, 0, into.length, position)).bytesRead;
}

export async function scanLines(read: ReadAt, onLine: OnLine): Promise<void> {
  let partial: Buffer[] = [];
  let offset = 0;
  let number = 0;
  const endLine = (tail: Buffer) => {
    const line = partial.length === 0 ? tail : Buffer.concat([...partial, tail]);
    partial = [];
    number += 1;
    if (!isBlank(line)) onLine(line, { offset, length: line.length }, number);
    offset += line.length + 1;
  };
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const chunk = buffer.subarray(0, await read(buffer, position));
    if (chunk.length === 0) break;
    position += chunk.length;
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      endLine(chunk.subarray(start, at));
      start = at + 1;
    }
    if (start < chunk.length) partial.push(Buffer.from(chunk.subarray(start)));
  }
  if (partial.length > 0) endLine(Buffer.alloc(0));
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

export async function readRange(read: ReadAt, { offset, length }: ByteRange): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const count = await read(bytes.subarray(done), offset + done);
    if (count === 0) throw new Error('the file has become shorter');
    done += count;
  }
  return bytes;
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
