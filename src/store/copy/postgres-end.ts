import type { Address } from '../postgres/connection/address.ts';
import { connect, type Link } from '../postgres/connection/client.ts';
import { toPostgresError } from '../postgres/connection/postgres-error.ts';
import { requireTables } from '../postgres/layout/migrations.ts';
import { DamagedError, numberOf, type Row, textOf } from '../sqlite/row.ts';
import { type Cell, type CopiedPart, type CopiedRow, type CopiedTable, isNumeric } from './copied-table.ts';
import { BATCH_ROWS, BATCH_SIZE, type CopyEnd, type CopySource, type CopyTarget } from './copy-end.ts';

/** The database at one moment, whoever writes to it meanwhile. Rejects with STORE_FAILED. */
export async function openPostgresSource(address: Address): Promise<CopySource> {
  return await openEnd(address, async (link) => {
    await link.query({ text: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${patient}` });
    const [row] = await link.query({
      text: "SELECT count(*) AS queued FROM signalbox.runs WHERE status = 'queued'",
    });
    return { ...endOf(link, address), held: await listHeld(address), queued: numberOf(row ?? {}, 'queued') };
  });
}

/** The database, with tables made where there are none, which nobody else may write to meanwhile. Rejects with STORE_FAILED. */
export async function openPostgresTarget(address: Address, part: CopiedPart): Promise<CopyTarget> {
  return await openEnd(address, async (link) => {
    await link.query({ text: `BEGIN; ${patient}` });
    // Triggers would write down a history that is copied itself; and what has this done to it is locked.
    for (const name of namesOf(part)) await link.query({ text: `ALTER TABLE ${name} DISABLE TRIGGER USER` });
    return {
      ...endOf(link, address),
      insert: (table, rows) => orStoreError(address, () => insertRows(link, table, rows)),
      commit: () =>
        orStoreError(address, async () => {
          for (const { postgres, order } of part.tables)
            if (order[0] === 'seq') await link.query({ text: goOnBehind(postgres) });
          for (const name of namesOf(part))
            await link.query({ text: `ALTER TABLE ${name} ENABLE TRIGGER USER` });
          await link.query({ text: 'COMMIT' });
        }),
    };
  });
}

/** In the order of the tables' keys, rather than sorted first; and however long that takes. */
const patient = 'SET LOCAL statement_timeout = 0; SET LOCAL enable_sort = off';

function namesOf({ tables }: CopiedPart): string[] {
  return tables.map(({ postgres }) => `signalbox.${postgres}`);
}

/** New rows come behind those that are there. */
function goOnBehind(table: string): string {
  return `SELECT setval(pg_get_serial_sequence('signalbox.${table}', 'seq'), last)
    FROM (SELECT max(seq) AS last FROM signalbox.${table}) AS there WHERE last IS NOT NULL`;
}

async function openEnd<End>(address: Address, begin: (link: Link) => Promise<End>): Promise<End> {
  return await orStoreError(address, async () => {
    const link = await connect(address);
    try {
      await requireTables(link, address.location);
      return await begin(link);
    } catch (error) {
      await link.end();
      throw error;
    }
  });
}

/** By another connection: locks are asked for, and given back with the statement. */
async function listHeld(address: Address): Promise<string[]> {
  const link = await connect(address);
  try {
    const rows = await link.query({
      text: `SELECT run_id FROM signalbox.claims
        WHERE NOT pg_try_advisory_xact_lock(signalbox.lock_key(run_id)) ORDER BY run_id`,
    });
    return rows.map((row) => textOf(row, 'run_id'));
  } finally {
    await link.end();
  }
}

function endOf(link: Link, address: Address): CopyEnd {
  return {
    location: address.location,
    count: (table) =>
      orStoreError(address, async () => {
        const [row] = await link.query({ text: `SELECT count(*) AS count ${fromTable(table)}` });
        return numberOf(row ?? {}, 'count');
      }),
    rows: (table) => readRows(link, address, table),
    close: () => link.end(),
  };
}

function fromTable({ postgres, only }: CopiedTable): string {
  return `FROM signalbox.${postgres} WHERE ${only}`;
}

/** A second cursor tells how long the next rows are, without reading them. */
async function* readRows(
  link: Link,
  address: Address,
  table: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const { columns, order } = table;
  const texts = columns.filter((column) => !isNumeric(column));
  const length = texts.map((column) => `coalesce(octet_length(${column}), 0)::bigint`).join(' + ');
  const rest = `${fromTable(table)} ORDER BY ${order.join(', ')}`;
  const fetch = async (cursor: string, most: number) =>
    await orStoreError(address, () => link.query({ text: `FETCH ${most} FROM ${cursor}` }));
  await orStoreError(address, () =>
    link.query({
      text: `DECLARE lengths NO SCROLL CURSOR FOR SELECT ${length} AS length ${rest};
        DECLARE rows NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} ${rest}`,
    }),
  );
  for (;;) {
    const lengths = (await fetch('lengths', BATCH_ROWS)).map((row) => numberOf(row, 'length'));
    for (const most of batchesOf(lengths)) {
      const rows = await fetch('rows', most);
      yield rows.map((row) => columns.map((column) => cellOf(row, column)));
    }
    if (lengths.length < BATCH_ROWS) break;
  }
  await orStoreError(address, () => link.query({ text: 'CLOSE lengths; CLOSE rows' }));
}

/** How many rows each batch has. */
function batchesOf(lengths: readonly number[]): number[] {
  const batches: number[] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const length of lengths) {
    const isFull = size + length > BATCH_SIZE;
    size = isFull ? length : size + length;
    batches.push(isFull ? 1 : (batches.pop() ?? 0) + 1);
  }
  return batches;
}

function cellOf(row: Row, column: string): Cell {
  const value = row[column];
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new DamagedError(`column ${column} holds neither a text nor a number`);
}

async function insertRows(link: Link, table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  const { postgres, columns, hasToken } = table;
  const name = `signalbox.${postgres}`;
  const values = columns.map((_column, place) => rows.map((row) => row[place] ?? null));
  const arrays = columns.map((column, place) => `$${place + 1}::${isNumeric(column) ? 'bigint' : 'text'}[]`);
  await link.query({
    text: `INSERT INTO ${name} (${columns.join(', ')}${hasToken ? ', token' : ''})
      SELECT ${columns.join(', ')}${hasToken ? ", 'copied'" : ''}
      FROM unnest(${arrays.join(', ')}) AS each (${columns.join(', ')})`,
    values,
  });
}

async function orStoreError<Result>(address: Address, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toPostgresError(error, address);
  }
}
