import { crc32 } from 'node:zlib';
import { RuntimeError } from '../../../base/errors.ts';
import type { Dataset, FileDataset } from '../../file/model.ts';
import { findFiles } from '../files.ts';
import { maxRowBytes } from '../json.ts';
import { nameOf } from '../remote/address.ts';
import { formatOf, openRows } from '../rows.ts';
import {
  type ByteRange,
  type DatasetChunk,
  type FileFacts,
  lookAt,
  readRange,
  toUnreadable,
} from './dataset-chunk.ts';

interface IndexOptions {
  readonly rowsPerChunk: number;
  /** Chunks of larger rows have fewer rows. Default: 4 MiB. */
  readonly bytesPerChunk?: number;
  readonly signal: AbortSignal;
}

/**
 * Yields the chunks of a dataset in order, in one pass and constant memory. Plain JSON Lines in UTF-8 get byte ranges;
 * for other formats, encodings and compressed files only rows are counted. Throws FILE_UNREADABLE, DATASET_INVALID,
 * USAGE for stdin, and the abort reason of the signal.
 */
export async function* indexDataset(dataset: Dataset, options: IndexOptions): AsyncGenerator<DatasetChunk> {
  let number = 1;
  for await (const chunk of chunksOf(dataset, options)) {
    yield { ...chunk, firstNumber: number };
    number += chunk.rows;
  }
  options.signal.throwIfAborted();
}

type FileChunk = Omit<DatasetChunk, 'firstNumber'>;

async function* chunksOf(dataset: Dataset, options: IndexOptions): AsyncGenerator<FileChunk> {
  if (dataset.kind === 'inline') {
    yield* countedChunks(dataset, { file: dataset.file, size: 0 }, options);
    return;
  }
  if (dataset.path === '-')
    throw new RuntimeError('USAGE', 'a dataset on stdin can be read only once, by one process');
  for (const file of await findFiles(dataset.path)) {
    const { mark, facts } = await lookAt(file, {
      signal: options.signal,
      privateHosts: dataset.privateHosts,
    });
    const format = dataset.format ?? formatOf(file);
    const isRanged = format === 'jsonl' && mark !== undefined;
    if (isRanged)
      yield* rangedChunks(file, { ...facts, offset: mark, privateHosts: dataset.privateHosts }, options);
    else yield* countedChunks(oneFile(dataset, file), { ...facts, file: nameOf(file) }, options);
  }
}

/** The dataset of one of its files. The name may contain pattern characters. */
export function oneFile(dataset: FileDataset, path: string): FileDataset {
  return { ...dataset, path };
}

interface RangedFile extends Pick<FileDataset, 'privateHosts'> {
  readonly offset: number;
}

async function* rangedChunks(
  file: string,
  { offset, privateHosts, ...facts }: FileFacts & RangedFile,
  { rowsPerChunk, bytesPerChunk = BYTES_PER_CHUNK, signal }: IndexOptions,
): AsyncGenerator<FileChunk> {
  const bytes = readRange(file, { start: offset, version: facts.version }, { signal, privateHosts });
  let firstOfFile = 1;
  try {
    for await (const { rows, ...range } of indexLines(bytes, { offset, rowsPerChunk, bytesPerChunk })) {
      yield { ...facts, file: nameOf(file), firstOfFile, rows, range };
      firstOfFile += rows;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw toUnreadable(file, cause);
  }
}

const BYTES_PER_CHUNK = 4 * 1024 * 1024;

async function* countedChunks(
  dataset: Dataset,
  facts: FileFacts & { readonly file: string },
  { rowsPerChunk, signal }: IndexOptions,
): AsyncGenerator<FileChunk> {
  let [firstOfFile, rows] = [1, 0];
  for await (const _row of openRows(dataset, signal).rows) {
    rows += 1;
    if (rows < rowsPerChunk) continue;
    yield { ...facts, firstOfFile, rows };
    firstOfFile += rows;
    rows = 0;
  }
  if (rows > 0) yield { ...facts, firstOfFile, rows };
}

interface LineRange extends ByteRange {
  readonly rows: number;
}

/**
 * Cuts the bytes of a file after a number of nonblank lines. `offset` is the position of the first byte in the file.
 */
async function* indexLines(
  chunks: AsyncIterable<Buffer>,
  {
    offset,
    rowsPerChunk,
    bytesPerChunk,
  }: { readonly offset: number; readonly rowsPerChunk: number; readonly bytesPerChunk: number },
): AsyncGenerator<LineRange> {
  const place = {
    start: offset,
    at: offset,
    line: 1,
    firstLine: 1,
    rows: 0,
    sum: 0,
    hasText: false,
    lineStart: offset,
  };
  const cut = (): LineRange => {
    const { start, at: end, firstLine, rows, sum } = place;
    Object.assign(place, { start: end, firstLine: place.line, rows: 0, sum: 0 });
    return { start, end, firstLine, sum, rows };
  };
  for await (const bytes of chunks) {
    let summed = 0;
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      place.at += end + 1 - from;
      // A line that is too long to inspect counts as a row.
      const isLong = place.at - 1 - place.lineStart > maxRowBytes;
      if (place.hasText || isLong || hasText(bytes, from, end)) place.rows += 1;
      place.hasText = false;
      place.line += 1;
      place.lineStart = place.at;
      from = end + 1;
      if (place.rows < rowsPerChunk && place.at - place.start < bytesPerChunk) continue;
      place.sum = crc32(bytes.subarray(summed, from), place.sum);
      summed = from;
      if (place.rows > 0) yield cut();
    }
    place.hasText ||= hasText(bytes, from, bytes.length);
    place.at += bytes.length - from;
    place.sum = crc32(bytes.subarray(summed), place.sum);
  }
  if (place.hasText || place.at - place.lineStart > maxRowBytes) place.rows += 1;
  if (place.rows > 0) yield cut();
}

const LINE_FEED = 0x0a;

function hasText(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return true;
  }
  return false;
}
