import { createHash, type Hash } from 'node:crypto';
import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { CopiedPart, CopiedRow, CopiedTable, CopyEnd, CopyTarget } from './copied-table.ts';

export interface TableCopy {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of all values of all rows in order, in hex; equal at both ends. */
  readonly sha256: string;
}

export interface PartCopy {
  /** `kept`: the target had the same rows before. */
  readonly outcome: 'copied' | 'kept';
  readonly tables: readonly TableCopy[];
}

export interface CopyPartOptions {
  readonly part: CopiedPart;
  readonly source: CopyEnd;
  readonly target: CopyTarget;
  readonly onProgress: (done: number, of: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Copies all rows or none, and verifies them by reading the target. Rejects with STORE_FAILED if the target has other
 * rows, and ABORTED.
 */
export async function copyPart(options: CopyPartOptions): Promise<PartCopy> {
  const { part, source, target } = options;
  const rows = await countRows(source, part);
  const there = await countRows(target, part);
  const walk = openWalk(options, 2 * rows);
  if (there > 0) {
    const kept = await walk(source, async () => {});
    if (there === rows && sameDigests(kept, await walk(target, async () => {})))
      return { outcome: 'kept', tables: kept };
    throw new RuntimeError(
      'STORE_FAILED',
      `${target.location} is not empty: it already has ${formatCount(there, 'row')}`,
      {
        hint: 'Copy to an empty database. This one was not changed.',
      },
    );
  }
  const tables = await walk(source, (table, batch) => target.insert(table, batch));
  if (!sameDigests(tables, await walk(target, async () => {}))) {
    throw new RuntimeError(
      'STORE_FAILED',
      `${target.location} returned rows other than those that were written`,
      {
        hint: 'The copy was undone. Check the disk and the version of the database.',
      },
    );
  }
  await target.commit();
  return { outcome: 'copied', tables };
}

async function countRows(end: CopyEnd, { tables }: CopiedPart): Promise<number> {
  let count = 0;
  for (const table of tables) count += await end.count(table);
  return count;
}

type Visit = (table: CopiedTable, batch: readonly CopiedRow[]) => Promise<void>;

function openWalk({ part, onProgress, signal }: CopyPartOptions, of: number) {
  let done = 0;
  return async (end: CopyEnd, visit: Visit): Promise<TableCopy[]> => {
    const copies: TableCopy[] = [];
    for (const table of part.tables) {
      const hash = createHash('sha256');
      let rows = 0;
      for await (const batch of end.rows(table)) {
        if (signal.aborted) throw new RuntimeError('ABORTED', 'the copy was interrupted and undone');
        await visit(table, batch);
        for (const row of batch) addRow(hash, row);
        rows += batch.length;
        done += batch.length;
        onProgress(done, of);
      }
      copies.push({ table: table.name, rows, sha256: hash.digest('hex') });
    }
    return copies;
  };
}

/** JSON separates values, and distinguishes numbers from texts. */
function addRow(hash: Hash, row: CopiedRow): void {
  for (const cell of row) hash.update(JSON.stringify(cell)).update('\n');
}

function sameDigests(some: readonly TableCopy[], others: readonly TableCopy[]): boolean {
  return some.every(({ sha256 }, place) => sha256 === others[place]?.sha256);
}
