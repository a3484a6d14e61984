import { stat } from 'node:fs/promises';
import type { Dataset } from '../file/model.ts';
import { findFiles } from './files.ts';
import { openRows } from './rows.ts';

/** Rows of a dataset that is quickly read; null of a larger one, of stdin and of what cannot be read. */
export async function countRows(dataset: Dataset, signal: AbortSignal): Promise<number | null> {
  if (dataset.kind === 'inline') return dataset.rows.length;
  try {
    const files = await findFiles(dataset.path);
    const found = await Promise.all(files.map((file) => stat(file)));
    const isQuick = found.every((file) => file.isFile() && !/\.gz$/i.test(dataset.path));
    if (!isQuick || found.reduce((sum, { size }) => sum + size, 0) > quickBytes) return null;
    let rows = 0;
    for await (const _row of openRows(dataset, signal).rows) rows += 1;
    return rows;
  } catch {
    // Whoever reads it in earnest says what is wrong.
    return null;
  }
}

/** Some tens of milliseconds. */
const quickBytes = 8 * 1024 * 1024;
