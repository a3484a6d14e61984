import { crc32 } from 'node:zlib';
import { RuntimeError } from '../../../base/errors.ts';
import type { Dataset } from '../../file/model.ts';
import { readJsonLines } from '../json.ts';
import { isRemote, nameOf } from '../remote/address.ts';
import type { Reading } from '../remote/remote-bytes.ts';
import type { Row } from '../row.ts';
import { openRows } from '../rows.ts';
import { type ByteRange, type DatasetChunk, lookAt, readRange, toUnreadable } from './dataset-chunk.ts';
import { oneFile } from './index-dataset.ts';

/**
 * Yields the rows of a chunk, equal to those of the whole dataset. Throws FILE_UNREADABLE. Throws DATASET_INVALID if
 * the file has changed since it was indexed. That error comes after the last row, so that no rows are buffered. An
 * abort ends the iteration early.
 */
export async function* readChunk(
  dataset: Dataset,
  chunk: DatasetChunk,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const { file, firstNumber, firstOfFile, rows, range } = chunk;
  const place = placeOf(dataset, file);
  const reading = { signal, privateHosts: dataset.privateHosts };
  if (dataset.kind === 'file') await requireSame(chunk, place, reading);
  let seen = 0;
  const skipped = range === undefined ? firstOfFile - 1 : 0;
  const all =
    range === undefined
      ? openRows(here(dataset, place), signal).rows
      : rowsOf(place, { range, version: chunk.version }, reading);
  for await (const row of all) {
    seen += 1;
    if (seen <= skipped) continue;
    if (seen > skipped + rows) break;
    yield { ...row, file, number: firstNumber + seen - skipped - 1 };
  }
  if (!signal.aborted && seen < skipped + rows) throw changed(place);
}

/** A chunk stores addresses without secrets, so the address of the dataset is read. */
function placeOf(dataset: Dataset, file: string): string {
  return dataset.kind === 'file' && isRemote(dataset.path) ? dataset.path : file;
}

function here(dataset: Dataset, file: string): Dataset {
  return dataset.kind === 'inline' ? dataset : oneFile(dataset, file);
}

async function requireSame({ size, version }: DatasetChunk, place: string, reading: Reading): Promise<void> {
  const { facts } = await lookAt(place, reading);
  if (facts.size !== size || facts.version !== version) throw changed(place);
}

async function* rowsOf(
  place: string,
  { range, version }: { readonly range: ByteRange; readonly version: string | undefined },
  reading: Reading,
): AsyncGenerator<Row> {
  const { start, end, firstLine, sum } = range;
  let actual = 0;
  const summed = async function* (): AsyncGenerator<Buffer> {
    for await (const part of readRange(place, { start, end, version }, reading)) {
      actual = crc32(part, actual);
      yield part;
    }
  };
  try {
    for await (const { line, content } of readJsonLines(summed()))
      yield { number: 0, file: nameOf(place), line: line + firstLine - 1, content };
  } catch (cause) {
    if (reading.signal.aborted) return;
    throw toUnreadable(place, cause);
  }
  if (actual !== sum) throw changed(place);
}

function changed(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${nameOf(file)} is not the file that the run started with`, {
    hint: 'Give all machines the same dataset, and do not change it until the run ends.',
  });
}
