import type { Dataset, DatasetFormat, FileDataset } from '../file/model.ts';
import { openBytes, stdinName } from './bytes.ts';
import { findFiles } from './files.ts';
import { formatOf } from './format.ts';
import { countLines } from './lines.ts';
import { type Meter, newMeter } from './meter.ts';
import { readers } from './readers.ts';
import { type FoundRow, type Row, unusable } from './row.ts';
import { PackedFault } from './unpack.ts';

export type { Row, RowContent } from './row.ts';

/** The rows of a dataset, and how many of them are through. */
export interface Rows {
  /**
   * In their order, to be read once; a few of them are held at a time. Throws FILE_UNREADABLE, and DATASET_INVALID for
   * a file that has no rows to speak of. An abort ends it early.
   */
  readonly rows: AsyncIterable<Row>;
  /** Bytes read of the bytes that there are, 0..1; null where nobody knows, as of stdin. */
  fraction(): number | null;
}

/** Opens a dataset; nothing is read before the first row is asked for. */
export function openRows(dataset: Dataset, signal: AbortSignal): Rows {
  if (dataset.kind === 'inline') return { rows: inlineRows(dataset), fraction: () => null };
  const meter = newMeter();
  return { rows: fileRows(dataset, signal, meter), fraction: meter.fraction };
}

async function* inlineRows({ file, rows }: Extract<Dataset, { kind: 'inline' }>): AsyncGenerator<Row> {
  for (const [index, { line, value }] of rows.entries()) {
    yield { number: index + 1, file, line, content: { usable: true, value } };
  }
}

async function* fileRows(dataset: FileDataset, signal: AbortSignal, meter: Meter): AsyncGenerator<Row> {
  const files = await findFiles(dataset.path);
  await meter.expect(files);
  let number = 0;
  try {
    for (const path of files) {
      const { chunks, bytesRead } = openBytes(path, signal);
      meter.follow(bytesRead);
      const file = path === '-' ? stdinName : path;
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

/** Where packed data breaks off, one unusable row says so and is the last. */
async function* readFile(
  chunks: AsyncIterable<Buffer>,
  { file, format }: { readonly file: string; readonly format: DatasetFormat },
): AsyncGenerator<FoundRow> {
  let line = 1;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      line += countLines(chunk);
      yield chunk;
    }
  };
  try {
    yield* readers[format](counted(), file);
  } catch (thrown) {
    if (!(thrown instanceof PackedFault)) throw thrown;
    yield { line, content: unusable(`${thrown.message}, and nothing behind this was read`, packHint) };
  }
}

const packHint = 'Pack the dataset again, or copy it again as a whole.';
