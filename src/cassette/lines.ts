import type { FileHandle } from 'node:fs/promises';

/** Where a line stands in its file, in bytes and without its end. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

/** Takes the lines that are not blank, in order, with their numbers from 1. The bytes are valid until it returns. */
export type OnLine = (line: Buffer, place: Place, number: number) => void;

/** Reads what stands at a position, in bytes, and gives how many bytes that were; 0 is the end. */
export type ReadAt = (into: Buffer, position: number) => Promise<number>;

export function readerOf(source: FileHandle | Buffer): ReadAt {
  if (Buffer.isBuffer(source)) return async (into, position) => source.copy(into, 0, position);
  return async (into, position) => (await source.read(into, 0, into.length, position)).bytesRead;
}

/** Reads everything from the beginning, line by line; holds no more than a piece of it and the longest line. */
export async function scanLines(read: ReadAt, onLine: OnLine): Promise<void> {
  let held: Buffer[] = [];
  let offset = 0;
  let number = 0;
  const end = (tail: Buffer) => {
    const line = held.length === 0 ? tail : Buffer.concat([...held, tail]);
    held = [];
    number += 1;
    if (!isBlank(line)) onLine(line, { offset, length: line.length }, number);
    offset += line.length + 1;
  };
  const buffer = Buffer.allocUnsafe(PIECE);
  for (let position = 0; ; ) {
    const piece = buffer.subarray(0, await read(buffer, position));
    if (piece.length === 0) break;
    position += piece.length;
    let start = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, start)) {
      end(piece.subarray(start, at));
      start = at + 1;
    }
    if (start < piece.length) held.push(Buffer.from(piece.subarray(start)));
  }
  if (held.length > 0) end(Buffer.alloc(0));
}

const PIECE = 1024 * 1024;
const NEWLINE = 0x0a;

/** The bytes that stand there. Throws an Error when there are fewer. */
export async function readPlace(read: ReadAt, { offset, length }: Place): Promise<Buffer> {
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
