import { DamagedError, type Row } from '../sqlite/row.ts';
import { columnsOf, resultTables, stateTables } from '../tables.ts';

/** A value of a column, as it is kept: texts with the escapes that both kinds of store have. */
export type Cell = string | number | null;

/** The values of a row, in the order of its table's columns. */
export type CopiedRow = readonly Cell[];

/** A table that both kinds of store have. */
export interface CopiedTable {
  /** In Postgres; `toSqliteNames` has its name in a file. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
  /** Columns whose values tell rows apart, and by which they are read. */
  readonly order: readonly string[];
  /** Whether rows name in Postgres who made them, which a file does not know. */
  readonly hasToken: boolean;
}

/** Tables that are copied together, all of them or none; those that others refer to come first. */
export interface CopiedPart {
  readonly name: 'state' | 'results';
  readonly tables: readonly CopiedTable[];
}

function partOf(
  name: CopiedPart['name'],
  tables: string,
  orders: Readonly<Record<string, string>>,
): CopiedPart {
  return {
    name,
    tables: Object.entries(orders).map(([table, order]) => ({
      ...{ name: table, columns: columnsOf(tables, table), order: order.split(' ') },
      hasToken: ['runs', 'steps', 'result_runs'].includes(table),
    })),
  };
}

/** Runs and all that belongs to them. Which events are told is said by whoever opens the store. */
export const copiedState = partOf('state', stateTables, {
  ...{ runs: 'seq', run_labels: 'run key', run_parents: 'id', run_pipelines: 'run_id file', steps: 'seq' },
  ...{ pendings: 'seq', consents: 'seq', texts: 'run_id step number', parts: 'run_id step', moments: 'seq' },
  ...{ suspensions: 'run', notices: 'seq' },
});

/** Results of suites, and answers that may be used again. */
export const copiedResults = partOf('results', resultTables, {
  ...{ result_runs: 'seq', results: 'run number epoch', answers: 'key', ratings: 'run key' },
  ...{ reopenings: 'run number', replaced_results: 'seq' },
});

/** One end of a copy: the tables of a part, as they are at one moment. Everything rejects with STORE_FAILED. */
export interface CopyEnd {
  readonly location: string;
  count(table: CopiedTable): Promise<number>;
  /** All rows in their order, in batches of a few MB, or of one row that is larger. */
  rows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  /** What is not committed is as if it had never been. Never rejects. */
  close(): Promise<void>;
}

/** Where rows are copied from, with the runs that are being executed at this moment. */
export interface CopySource extends CopyEnd {
  readonly held: readonly string[];
}

/** Where rows go to; nobody else writes there until it is committed or closed. */
export interface CopyTarget extends CopyEnd {
  insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  commit(): Promise<void>;
}

/** What a batch holds at most, in characters or bytes. */
export const BATCH_SIZE = 4_000_000;
export const BATCH_ROWS = 1_000;

/** Throws Damaged. */
export function cellOf(row: Row, column: string): Cell {
  const value = row[column];
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new DamagedError(`column ${column} holds neither a text nor a number`);
}
