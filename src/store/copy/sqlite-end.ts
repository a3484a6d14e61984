import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { resultLayout } from '../results-schema.ts';
import {
  type Connection,
  ignoreErrors,
  joinConnection,
  openConnection,
  retryWhileBusy,
  transact,
} from '../sqlite/connection.ts';
import type { Layout } from '../sqlite/layout.ts';
import { DamagedError, numberOf, type Row, textOf } from '../sqlite/row.ts';
import { createRunLocks } from '../sqlite/run-locks.ts';
import { stateLayout } from '../sqlite/schema.ts';
import { toStoreError } from '../sqlite/store-error.ts';
import type { Cell, CopiedPart, CopiedRow, CopiedTable } from './copied-table.ts';
import { BATCH_ROWS, BATCH_SIZE, type CopyEnd, type CopySource, type CopyTarget } from './copy-end.ts';

const layouts: Readonly<Record<CopiedPart['name'], Layout>> = { state: stateLayout, results: resultLayout };

/** The file at one moment, whoever writes to it meanwhile; undefined where there is none. Rejects with STORE_FAILED. */
export async function openSqliteSource(file: string, part: CopiedPart): Promise<CopySource | undefined> {
  if (!existsSync(file)) return undefined;
  return await openEnd(file, part, async (connection) => {
    const { database } = connection;
    database.exec('BEGIN');
    // The first look is what fixes the moment.
    database.prepare('SELECT count(*) FROM runs').get();
    const held = await listHeld(file, connection.identity);
    return { ...endOf(connection, file), held, queued: 0 };
  });
}

/** The file, made where it is missing, which nobody else may write to meanwhile. Rejects with STORE_FAILED. */
export async function openSqliteTarget(file: string, part: CopiedPart): Promise<CopyTarget> {
  return await openEnd(file, part, async (connection) => {
    const { database } = connection;
    await retryWhileBusy(() => database.exec('BEGIN IMMEDIATE'), WAIT_MS);
    // Triggers would write down a history that is copied itself.
    const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const trigger of triggers) database.exec(`DROP TRIGGER ${textOf(trigger, 'name')}`);
    return {
      ...endOf(connection, file),
      insert: (table, rows) => orStoreError(file, () => insertRows(connection, table, rows)),
      commit: () =>
        orStoreError(file, () => {
          connection.requireSameFile();
          for (const trigger of triggers) database.exec(textOf(trigger, 'sql'));
          database.exec('COMMIT');
        }),
    };
  });
}

/** As long as other calls of a store wait. */
const WAIT_MS = 30_000;

async function openEnd<End>(
  file: string,
  { name }: CopiedPart,
  begin: (connection: Connection) => Promise<End>,
): Promise<End> {
  try {
    const connection = await openConnection({
      ...{ file, layout: layouts[name], commitWaitsFor: 'disk', waitMs: WAIT_MS },
    });
    try {
      return await begin(connection);
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** By another connection: whether a lock is held shows only within a write. */
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

function endOf({ database, location }: Connection, file: string): CopyEnd {
  return {
    location,
    count: (table) =>
      orStoreError(file, () =>
        numberOf(database.prepare(`SELECT count(*) AS count FROM ${table.sqlite}`).get() ?? {}, 'count'),
      ),
    rows: (table) => readRows(database, file, table),
    close: async () => ignoreErrors(() => database.close()),
  };
}

async function* readRows(
  database: Connection['database'],
  file: string,
  { sqlite, columns, order }: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  try {
    const all = database.prepare(`SELECT ${columns.join(', ')} FROM ${sqlite} ORDER BY ${order.join(', ')}`);
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
        // Signals are heard between batches.
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

function cellOf(row: Row, column: string): Cell {
  const value = row[column];
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new DamagedError(`column ${column} holds neither a text nor a number`);
}

function insertRows({ database }: Connection, table: CopiedTable, rows: readonly CopiedRow[]): void {
  const { sqlite, columns } = table;
  const insert = database.prepare(
    `INSERT INTO ${sqlite} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  for (const row of rows) insert.run(...row);
}

async function orStoreError<Result>(file: string, work: () => Result): Promise<Result> {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error, file);
  }
}
