import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { TextDecoder } from 'node:util';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import type { Dataset, DatasetFormat, FileDataset } from '../file/model.ts';
import { DecompressionError, decompress, decompressPacked } from './decompress.ts';
import { findFiles } from './files.ts';
import { countLines } from './lines.ts';
import { readers } from './readers.ts';
import { isRemote, nameOf, remoteName } from './remote/address.ts';
import type { Reading } from './remote/remote-bytes.ts';
import { type FileRow, type Row, unusable } from './row.ts';

export interface Rows {
  /**
   * In order, in constant memory; can be read once. Throws FILE_UNREADABLE. Throws DATASET_INVALID if a header is
   * unusable or a file is too large to read. An abort ends the iteration early.
   */
  readonly rows: AsyncIterable<Row>;
  /** The share of bytes read, 0..1; null if unknown, as for stdin. */
  fraction(): number | null;
}

/** Reads nothing before the first row is requested. */
export function openRows(dataset: Dataset, signal: AbortSignal): Rows {
  if (dataset.kind === 'inline') return { rows: inlineRows(dataset), fraction: () => null };
  const progress = newReadProgress();
  return { rows: fileRows(dataset, signal, progress), fraction: progress.fraction };
}

async function* inlineRows({ file, rows }: Extract<Dataset, { kind: 'inline' }>): AsyncGenerator<Row> {
  for (const [index, { line, value }] of rows.entries()) {
    yield { number: index + 1, file, line, content: { usable: true, value } };
  }
}

async function* fileRows(
  dataset: FileDataset,
  signal: AbortSignal,
  progress: ReadProgress,
): AsyncGenerator<Row> {
  const reading = { signal, privateHosts: dataset.privateHosts };
  const files = await findFiles(dataset.path);
  await progress.measure(files, reading);
  let number = 0;
  try {
    for (const path of files) {
      const { chunks, bytesRead } = openBytes(path, reading);
      progress.startFile(bytesRead);
      const file = path === '-' ? stdinName : nameOf(path);
      const format = dataset.format ?? formatOf(path);
      for await (const { line, content } of readFile(chunks, { file, format })) {
        number += 1;
        yield { number, file, line, content };
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Damaged gzip yields one invalid row, the last of the file. */
async function* readFile(
  chunks: AsyncIterable<Buffer>,
  { file, format }: { readonly file: string; readonly format: DatasetFormat },
): AsyncGenerator<FileRow> {
  let line = 1;
  const countedChunks = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      line += countLines(chunk);
      yield chunk;
    }
  };
  try {
    yield* readers[format](countedChunks(), file);
  } catch (thrown) {
    if (!(thrown instanceof DecompressionError)) throw thrown;
    yield { line, content: unusable(`${thrown.message}, and nothing after this was read`, compressionHint) };
  }
}

const compressionHint = 'Compress the dataset again, or copy the complete file again.';

interface ReadProgress {
  measure(files: readonly string[], reading: Reading): Promise<void>;
  startFile(bytesRead: () => number): void;
  fraction(): number | null;
}

function newReadProgress(): ReadProgress {
  let total: number | null = null;
  let before = 0;
  let current = (): number => 0;
  return {
    async measure(files, reading) {
      total = files.includes('-') ? null : await sumSizes(files, reading);
    },
    startFile(bytesRead) {
      before += current();
      current = bytesRead;
    },
    fraction() {
      if (total === null) return null;
      return total === 0 ? 1 : Math.min(1, (before + current()) / total);
    },
  };
}

/** Null if one is not a regular file, such as a pipe. */
async function sumSizes(files: readonly string[], reading: Reading): Promise<number | null> {
  try {
    const sizes = await Promise.all(files.map((file) => sizeOf(file, reading)));
    return sizes.includes(Number.NaN) ? null : sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return null;
  }
}

async function sizeOf(file: string, reading: Reading): Promise<number> {
  if (isRemote(file)) {
    const { lookAtRemote } = await import('./remote/remote-bytes.ts');
    return (await lookAtRemote(file, reading)).size ?? Number.NaN;
  }
  const found = await stat(file);
  return found.isFile() ? found.size : Number.NaN;
}

interface OpenBytes {
  /**
   * Throws FILE_UNREADABLE, DATASET_INVALID if remote content changes during reading, DecompressionError for damaged
   * gzip, and the abort reason.
   */
  readonly chunks: AsyncIterable<Buffer>;
  bytesRead(): number;
}

/** Opens a file or, for `-`, stdin. Decompresses names that end in `.gz`, and remote content with a gzip header. */
function openBytes(path: string, reading: Reading): OpenBytes {
  if (isRemote(path)) return openRemoteBytes(path, reading);
  const { signal } = reading;
  if (path === '-') {
    return { chunks: readAll(addAbortSignal(signal, process.stdin), stdinName), bytesRead: () => 0 };
  }
  const file = addAbortSignal(signal, createReadStream(path));
  return {
    chunks: readAll(isCompressed(path) ? decompress(file) : file, path),
    bytesRead: () => file.bytesRead,
  };
}

function openRemoteBytes(path: string, reading: Reading): OpenBytes {
  let bytesRead = 0;
  const sent = async function* (): AsyncGenerator<Buffer> {
    const { readRemote } = await import('./remote/remote-bytes.ts');
    for await (const part of readRemote(path, { start: 0 }, reading)) {
      bytesRead += part.length;
      yield part;
    }
  };
  return { chunks: readAll(decompressPacked(sent()), remoteName(path)), bytesRead: () => bytesRead };
}

const stdinName = '<stdin>';

function isCompressed(path: string): boolean {
  return /\.gz$/i.test(path);
}

async function* readAll(source: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* withoutByteOrderMark(source);
  } catch (cause) {
    if (cause instanceof DecompressionError || cause instanceof RuntimeError) throw cause;
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    const near = nearFileHint(file);
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, {
      cause,
      hint: `${near === undefined ? '' : `${near} `}A dataset path in a suite is relative to the folder of the suite; that of --dataset is relative to the working folder.`,
    });
  }
}

/** Drops the UTF-8 byte order mark that some editors write. Decodes UTF-16 to UTF-8. */
async function* withoutByteOrderMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  const toUtf8 = (bytes: Buffer): Buffer =>
    decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
  for await (const chunk of source) {
    if (start === undefined) {
      yield toUtf8(chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < longestMark) continue;
    decoder = decoderOf(start);
    yield toUtf8(withoutUtf8Mark(start));
    start = undefined;
  }
  if (start !== undefined && start.length > 0) {
    decoder = decoderOf(start);
    yield toUtf8(withoutUtf8Mark(start));
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
/** Enough bytes to detect UTF-16 without a mark. */
const longestMark = 4;

function withoutUtf8Mark(bytes: Buffer): Buffer {
  return bytes.subarray(0, utf8Mark.length).equals(utf8Mark) ? bytes.subarray(utf8Mark.length) : bytes;
}

/**
 * Detects UTF-16 by its mark, which the decoder drops, or by zero bytes between letters. No dataset starts with a NUL.
 */
function decoderOf(bytes: Buffer): TextDecoder | undefined {
  const [first, second] = bytes;
  const zeros = [...bytes.subarray(0, 4)].map((byte) => Number(byte === 0)).join('');
  if ((first === 0xff && second === 0xfe) || zeros === '0101') return new TextDecoder('utf-16le');
  return (first === 0xfe && second === 0xff) || zeros === '1010' ? new TextDecoder('utf-16be') : undefined;
}

/** The format by file extension, ignoring `.gz`; JSON Lines if unknown. */
export function formatOf(file: string): DatasetFormat {
  const extension = /\.([^./]*)(?:\.gz)?$/i.exec(nameOf(file))?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension) ?? 'jsonl';
}

const byExtension: ReadonlyMap<string, DatasetFormat> = new Map([
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['json', 'json'],
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
]);

/** The number of rows of a small dataset. Null for more than 8 MiB, gzip, stdin, addresses and unreadable files. */
export async function countRows(dataset: Dataset, signal: AbortSignal): Promise<number | null> {
  if (dataset.kind === 'inline') return dataset.rows.length;
  let count = 0;
  const isRead = await readSmall(dataset, signal, () => {
    count += 1;
    return true;
  });
  return isRead ? count : null;
}

/**
 * Passes the rows of a small file to the callback until it returns false. Returns false if the dataset is not a small
 * readable file.
 */
export async function readSmall(
  dataset: Dataset,
  signal: AbortSignal,
  onRow: (row: Row) => boolean,
): Promise<boolean> {
  if (dataset.kind === 'inline' || isRemote(dataset.path)) return false;
  try {
    const files = await findFiles(dataset.path);
    const found = await Promise.all(files.map((file) => stat(file)));
    const isQuick = found.every((file) => file.isFile() && !/\.gz$/i.test(dataset.path));
    if (!isQuick || found.reduce((sum, { size }) => sum + size, 0) > maxCountedBytes) return false;
    for await (const row of openRows(dataset, signal).rows) if (!onRow(row)) break;
    return true;
  } catch {
    // The run reads the dataset again and reports the fault.
    return false;
  }
}

/** Takes tens of milliseconds to read. */
const maxCountedBytes = 8 * 1024 * 1024;
