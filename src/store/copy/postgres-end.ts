import type { Address } from '../postgres/connection/address.ts';
import type { Link } from '../postgres/connection/client.ts';
import { toPostgresError } from '../postgres/connection/postgres-error.ts';
import { openLink } from '../postgres/layout/migrations.ts';
import { numberOf } from '../sqlite/row.ts';
import {
  BATCH_ROWS,
  BATCH_SIZE,
  type CopiedPart,
  type CopiedRow,
  type CopiedTable,
  type CopyTarget,
  cellOf,
} from './copied-table.ts';

/** Opens the target and creates missing tables. Nobody else can write to it meanwhile. Rejects with STORE_FAILED. */
export async function openPostgresTarget(address: Address, part: CopiedPart): Promise<CopyTarget> {
  return await orStoreError(address, async () => {
    const link = await openLink(address);
    const setTriggers = async (what: 'DISABLE' | 'ENABLE') => {
      for (const { name } of part.tables)
        await link.query({ text: `ALTER TABLE signalbox.${name} ${what} TRIGGER USER` });
    };
    try {
      await link.query({ text: `BEGIN; ${patient}` });
      // Triggers would write a history that is copied anyway. Changing them locks the tables.
      await setTriggers('DISABLE');
    } catch (error) {
      await link.end();
      throw error;
    }
    return {
      location: address.location,
      count: (table) =>
        orStoreError(address, async () => {
          const [row] = await link.query({ text: `SELECT count(*) AS count ${fromTable(table)}` });
          return numberOf(row ?? {}, 'count');
        }),
      rows: (table) => readRows(link, address, table),
      insert: (table, rows) => orStoreError(address, () => insertRows(link, table, rows)),
      commit: () =>
        orStoreError(address, async () => {
          for (const { name, order } of part.tables)
            if (order[0] === 'seq') await link.query({ text: goOnBehind(name) });
          await setTriggers('ENABLE');
          await link.query({ text: 'COMMIT' });
        }),
      close: () => link.end(),
    };
  });
}

/** Reads by index order instead of sorting, without a time limit. */
const patient = 'SET LOCAL statement_timeout = 0; SET LOCAL enable_sort = off';

function goOnBehind(table: string): string {
  return `SELECT setval(pg_get_serial_sequence('signalbox.${table}', 'seq'), last)
    FROM (SELECT max(seq) AS last FROM signalbox.${table}) AS there WHERE last IS NOT NULL`;
}

/** Ignores results of runs that are being removed. */
function fromTable({ name }: CopiedTable): string {
  const only = name === 'results' ? 'WHERE run IN (SELECT seq FROM signalbox.result_runs)' : '';
  return `FROM signalbox.${name} ${only}`;
}

/** A second cursor returns the lengths of the next rows without reading them. */
async function* readRows(
  link: Link,
  address: Address,
  table: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const { columns, order } = table;
  const names = columns.map(({ name }) => name);
  const texts = columns.filter(({ isNumber }) => !isNumber);
  const length = texts.map(({ name }) => `coalesce(octet_length(${name}), 0)::bigint`).join(' + ');
  const rest = `${fromTable(table)} ORDER BY ${order.join(', ')}`;
  const fetch = async (cursor: string, most: number) =>
    await orStoreError(address, () => link.query({ text: `FETCH ${most} FROM ${cursor}` }));
  await orStoreError(address, () =>
    link.query({
      text: `DECLARE lengths NO SCROLL CURSOR FOR SELECT ${length} AS length ${rest};
        DECLARE rows NO SCROLL CURSOR FOR SELECT ${names.join(', ')} ${rest}`,
    }),
  );
  for (;;) {
    const lengths = (await fetch('lengths', BATCH_ROWS)).map((row) => numberOf(row, 'length'));
    for (const most of batchesOf(lengths)) {
      const rows = await fetch('rows', most);
      yield rows.map((row) => names.map((column) => cellOf(row, column)));
    }
    if (lengths.length < BATCH_ROWS) break;
  }
  await orStoreError(address, () => link.query({ text: 'CLOSE lengths; CLOSE rows' }));
}

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

async function insertRows(link: Link, table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  const { name, columns, hasToken } = table;
  const names = columns.map((column) => column.name).join(', ');
  const values = columns.map((_column, place) => rows.map((row) => row[place] ?? null));
  const arrays = columns.map(({ isNumber }, place) => `$${place + 1}::${isNumber ? 'bigint' : 'text'}[]`);
  await link.query({
    text: `INSERT INTO signalbox.${name} (${names}${hasToken ? ', token' : ''})
      SELECT ${names}${hasToken ? ", 'copied'" : ''} FROM unnest(${arrays.join(', ')}) AS each (${names})`,
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
