import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { RuntimeError } from '../../errors.ts';
import { PackedFault, unpack } from './unpack.ts';

/** The bytes of one file, unpacked and without a byte order mark. */
export interface OpenBytes {
  /** Throws FILE_UNREADABLE, a PackedFault where packed bytes end too early, and an AbortError when the signal ends it. */
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
  return { chunks: readAll(isPacked(path) ? unpack(file) : file, path), bytesRead: () => file.bytesRead };
}

/** How messages call stdin. */
export const stdinName = '<stdin>';

export function isPacked(path: string): boolean {
  return /\.gz$/i.test(path);
}

async function* readAll(source: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* withoutMark(source);
  } catch (cause) {
    if (cause instanceof PackedFault || (cause instanceof Error && cause.name === 'AbortError')) throw cause;
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
  return `cannot be read: ${message}`;
}
