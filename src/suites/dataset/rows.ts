import type { Dataset, DatasetFormat, FileDataset } from '../file/model.ts';
import { openBytes, stdinName } from './bytes.ts';
import { DecompressionError } from './decompress.ts';
import { findFiles } from './files.ts';
import { formatOf } from './format.ts';
import { countLines } from './lines.ts';
import { newReadProgress, type ReadProgress } from './read-progress.ts';
import { readers } from './readers.ts';
import { nameOf } from './remote/address.ts';
import { type FileRow, type Row, unusable } from './row.ts';

/** The rows of a dataset, and how much of it has been read. */
export interface Rows {
  /**
   * In order; can be read once, in constant memory. Throws FILE_UNREADABLE, and DATASET_INVALID for a file
   * without a usable header or of a size that cannot be read. An abort ends it early.
   */
  readonly rows: AsyncIterable<Row>;
  /** The share of the bytes that have been read, 0..1; null where that is unknown, as on stdin. */
  fraction(): number | null;
}

/** Opens a dataset; nothing is read before the first row is asked for. */
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
  const files = await findFiles(dataset.path);
  await progress.measure(files, signal);
  let number = 0;
  try {
    for (const path of files) {
      const { chunks, bytesRead } = openBytes(path, signal);
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

/** Damaged gzip becomes one unusable row, the last of the file. */
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
    yield { line, content: unusable(`${thrown.message}, and nothing behind this was read`, compressionHint) };
  }
}

const compressionHint = 'Pack the dataset again, or copy it again as a whole.';
