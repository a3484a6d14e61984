import { createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RuntimeError } from '../../errors.ts';

/** The bytes of one file, unpacked and without a byte order mark. */
export interface OpenBytes {
  /** Throws FILE_UNREADABLE, and an AbortError when the signal ends it. */
  readonly chunks: AsyncIterable<Buffer>;
  /** How many bytes of the file, as it lies on the disk, have been read. */
  bytesRead(): number;
}

/** Opens a file, packed when it ends in `.gz`; `-` is stdin. */
export function openBytes(path: string, signal: AbortSignal): OpenBytes {
  if (path === '-') {
    return { chunks: readAll(addAbortSignal(signal, process.stdin), stdinName), bytesRead: () => 0 };
  }
  const file = addAbortSignal(signal, createReadStream(path));
  // The pipeline hands errors and an early end on in both directions; who reads is told of them by the reading.
  const source = isPacked(path) ? pipeline(file, createGunzip(), () => {}) : file;
  return { chunks: readAll(source, path), bytesRead: () => file.bytesRead };
}

/** How messages call stdin. */
export const stdinName = '<stdin>';

export function isPacked(path: string): boolean {
  return /\.gz$/i.test(path);
}

async function* readAll(source: Readable, file: string): AsyncGenerator<Buffer> {
  try {
    yield* withoutMark(source);
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
  }
}

/** Drops the byte order mark that some editors put in front of UTF-8. */
async function* withoutMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of source) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < mark.length) continue;
    yield startsWithMark(start) ? start.subarray(mark.length) : start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}

const mark = Buffer.from([0xef, 0xbb, 0xbf]);

function startsWithMark(bytes: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}

function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES') return 'may not be read';
  if (code === 'Z_BUF_ERROR') return 'breaks off: its gzip data is not complete';
  if (typeof code === 'string' && code.startsWith('Z_')) return `is not valid gzip: ${message}`;
  return `cannot be read: ${message}`;
}
