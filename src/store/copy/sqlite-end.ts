import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Connection,
  ignoreErrors,
  joinConnection,
  openConnection,
  retryWhileBusy,
  transact,
} from '../sqlite/connection.ts';
import { numberOf } from '../sqlite/row.ts';
import { createRunLocks } from '../sqlite/run-locks.ts';
import { resultLayout, stateLayout } from '../sqlite/schema.ts';
import { toStoreError } from '../sqlite/store-error.ts';
import { toSqliteNames } from '../tables.ts';
import {
  BATCH_ROWS,
  BATCH_SIZE,
  type CopiedPart,
  type CopiedRow,
  type CopiedTable,
  type CopySource,
  cellOf,
} from './copied-table.ts';

/** A snapshot of the file while others write to it; undefined if there is no file. Rejects with STORE_FAILED. */
export async function openSqliteSource(file: string, { name }: CopiedPart): Promise<CopySource | undefined> {
  if (!existsSync(file)) return undefined;
  const layout = name === 'state' ? stateLayout : resultLayout;
  try {
    const { database, identity, location } = await openConnection({
      ...{ file, layout, commitWaitsFor: 'disk', waitMs: WAIT_MS },
    });
    try {
      database.exec('BEGIN');
      // The first read fixes the snapshot.
      database.prepare('SELECT count(*) FROM runs').get();
      return {
        ...{ location, held: await listHeld(file, identity) },
        count: async (table) => {
          try {
            const sql = `SELECT count(*) AS count FROM ${nameOf(table)}`;
            return numberOf(database.prepare(sql).get() ?? {}, 'count');
          } catch (error) {
            throw toStoreError(error, file);
          }
        },
        rows: (table) => readRows(database, file, table),
        close: async () => ignoreErrors(() => database.close()),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

const WAIT_MS = 30_000;

function nameOf({ name }: CopiedTable): string {
  return toSqliteNames(`signalbox.${name}`);
}

/** Uses another connection, because a lock can be tested only within a write. */
async function listHeld(file: string, identity: string): Promise<string[]> {
  const connection = joinConnection(file, identity);
  const { database } = connection;
  const write = async <Result>(work: () => Result) =>
    await retryWhileBusy(() => transact(database, work), WAIT_MS);
  const tryWrite = async (work: () => void) => void (await write(work));
  try {
    const locks = createRunLocks({ file, write, tryWrite, read: write });
    return await write(() => [...locks.sweep()]);
  } finally {
    database.close();
  }
}

async function* readRows(
  database: Connection['database'],
  file: string,
  table: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const columns = table.columns.map(({ name }) => name);
  try {
    const all = database.prepare(
      `SELECT ${columns.join(', ')} FROM ${nameOf(table)} ORDER BY ${table.order.join(', ')}`,
    );
    let batch: CopiedRow[] = [];
    let size = 0;
    for (const row of all.iterate()) {
      const cells = columns.map((column) => cellOf(row, column));
      const length = cells.reduce<number>(
        (sum, cell) => sum + (typeof cell === 'string' ? cell.length : 0),
        0,
      );
      if (batch.length === BATCH_ROWS || (batch.length > 0 && size + length > BATCH_SIZE)) {
        yield batch;
        // Lets signals arrive between batches.
        await nextTurn();
        batch = [];
        size = 0;
      }
      batch.push(cells);
      size += length;
    }
    if (batch.length > 0) yield batch;
  } catch (error) {
    throw toStoreError(error, file);
  }
}
