import { stat } from 'node:fs/promises';
import type { Dataset } from '../file/model.ts';
import { findFiles } from './files.ts';
import { isRemote } from './remote/address.ts';
import { openRows } from './rows.ts';

/**
 * The number of rows of a small dataset; null for more than 8 MiB, for gzip, stdin, addresses and what cannot be read.
 */
export async function countRows(dataset: Dataset, signal: AbortSignal): Promise<number | null> {
  if (dataset.kind === 'inline') return dataset.rows.length;
  if (isRemote(dataset.path)) return null;
  try {
    const files = await findFiles(dataset.path);
    const found = await Promise.all(files.map((file) => stat(file)));
    const isQuick = found.every((file) => file.isFile() && !/\.gz$/i.test(dataset.path));
    if (!isQuick || found.reduce((sum, { size }) => sum + size, 0) > maxCountedBytes) return null;
    let rows = 0;
    for await (const _row of openRows(dataset, signal).rows) rows += 1;
    return rows;
  } catch {
    // The run reads the dataset again, and reports what is wrong.
    return null;
  }
}

/** Takes some tens of milliseconds to read. */
const maxCountedBytes = 8 * 1024 * 1024;
