import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { RuntimeError } from '../../../base/errors.ts';
import { whyUnreadable } from '../../../base/files/file-error.ts';
import { members, number, optional, type Shape, text } from '../../../base/json/shape.ts';
import { isPacked } from '../decompress.ts';
import { isRemote, nameOf } from '../remote/address.ts';
import type { Reading } from '../remote/remote-bytes.ts';

/** Consecutive rows of one file of a dataset. Plain JSON. */
export interface DatasetChunk {
  readonly file: string;
  /** The file size in bytes, or -1 if the server does not report it. */
  readonly size: number;
  /** The version that the server reports; only for addresses. */
  readonly version?: string | undefined;
  /** The number of the first row, from 1: over all files of the dataset, and in this file. */
  readonly firstNumber: number;
  readonly firstOfFile: number;
  readonly rows: number;
  readonly range?: ByteRange | undefined;
}

export interface ByteRange {
  /** `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
  /** CRC-32 of the bytes. */
  readonly sum: number;
}

export const datasetChunk: Shape<DatasetChunk> = members<DatasetChunk>({
  file: text,
  size: number,
  version: optional(text),
  firstNumber: number,
  firstOfFile: number,
  rows: number,
  range: optional(members<ByteRange>({ start: number, end: number, firstLine: number, sum: number })),
});

/** Used to detect that a file has changed. */
export type FileFacts = Pick<DatasetChunk, 'size' | 'version'>;

export interface FileLook {
  readonly facts: FileFacts;
  /** The length of the UTF-8 byte order mark; undefined if the text cannot be read from the middle. */
  readonly mark: number | undefined;
}

export async function lookAt(file: string, reading: Reading): Promise<FileLook> {
  return isRemote(file) ? await lookBehind(file, reading) : await lookInto(file);
}

async function lookBehind(file: string, reading: Reading): Promise<FileLook> {
  const { lookAtRemote } = await import('../remote/remote-bytes.ts');
  const { size, version, hasRanges, head } = await lookAtRemote(file, reading);
  const facts = { size: size ?? -1, ...(version !== null && { version }) };
  return { facts, mark: hasRanges && !isPacked(head) ? markOf(head) : undefined };
}

async function lookInto(file: string): Promise<FileLook> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
      return {
        facts: { size },
        mark: /\.gz$/i.test(file) ? undefined : markOf(buffer.subarray(0, bytesRead)),
      };
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw toUnreadable(file, cause);
  }
}

/** Undefined if the text seems to be UTF-16. */
function markOf(head: Buffer): number | undefined {
  if (head.subarray(0, 3).equals(utf8Mark)) return utf8Mark.length;
  return head.includes(0) || head[0] === 0xff || head[0] === 0xfe ? undefined : 0;
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads bytes of a file or an address. Throws RuntimeErrors, and system errors to convert with `toUnreadable`. */
export async function* readRange(
  file: string,
  { start, end, version }: Pick<ByteRange, 'start'> & { readonly end?: number } & Pick<FileFacts, 'version'>,
  reading: Reading,
): AsyncGenerator<Buffer> {
  if (isRemote(file)) {
    const { readRemote } = await import('../remote/remote-bytes.ts');
    yield* readRemote(file, { start, end, version }, reading);
    return;
  }
  const last = end === undefined ? {} : { end: end - 1 };
  yield* addAbortSignal(
    reading.signal,
    createReadStream(file, { start, ...last, highWaterMark: READ_BYTES }),
  );
}

const READ_BYTES = 1024 * 1024;

/** Converts an error from reading a file to FILE_UNREADABLE. */
export function toUnreadable(file: string, cause: unknown): RuntimeError {
  if (cause instanceof RuntimeError) return cause;
  return new RuntimeError('FILE_UNREADABLE', `${nameOf(file)} ${whyUnreadable(cause)}`, { cause });
}
