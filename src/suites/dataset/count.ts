import { stat } from 'node:fs/promises';
import type { Dataset } from '../file/model.ts';
import { findFiles } from './files.ts';
import { isRemote } from './remote/address.ts';
import type { Row } from './row.ts';
import { openRows } from './rows.ts';

/**
 * The number of rows of a small dataset; null for more than 8 MiB, for gzip, stdin, addresses and what cannot be read.
 */
export async function countRows(dataset: Dataset, signal: AbortSignal): Promise<number | null> {
  if (dataset.kind === 'inline') return dataset.rows.length;
  let count = 0;
  const isRead = await readSmall(dataset, signal, () => {
    count += 1;
    return true;
  });
  return isRead ? count : null;
}

/** Shows the rows of a small file while it is told to go on; false where the dataset is none or cannot be read. */
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
    // The run reads the dataset again, and reports what is wrong.
    return false;
  }
}

/** Takes some tens of milliseconds to read. */
const maxCountedBytes = 8 * 1024 * 1024;
