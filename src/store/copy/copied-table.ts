import { DamagedError, type Row } from '../sqlite/row.ts';
import { columnsOf, identityTable, pinTable, resultTables, stateTables } from '../tables.ts';

export type Cell = string | number | null;

export type CopiedRow = readonly Cell[];

export interface CopiedTable {
  /** The name in Postgres; `toSqliteNames` maps it to the name in a file. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
  readonly order: readonly string[];
  /** Whether Postgres rows name the writer, which a file does not record. */
  readonly hasToken: boolean;
}

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

/** Excludes the rules for notices, which are set whenever a store is opened. */
export const copiedState = partOf('state', stateTables + identityTable + pinTable, {
  ...{ runs: 'seq', run_labels: 'run key', run_parents: 'id', run_pipelines: 'run_id file', steps: 'seq' },
  ...{ pendings: 'seq', consents: 'seq', texts: 'run_id step number', parts: 'run_id step', moments: 'seq' },
  ...{ suspensions: 'run', notices: 'seq', call_identities: 'seq', pins: 'server' },
});

export const copiedResults = partOf('results', resultTables, {
  ...{ result_runs: 'seq', results: 'run number epoch', answers: 'key', ratings: 'run key' },
  ...{ reopenings: 'run number', replaced_results: 'seq' },
});

/** One end of a copy: a snapshot of the tables of a part. All methods reject with STORE_FAILED. */
export interface CopyEnd {
  readonly location: string;
  count(table: CopiedTable): Promise<number>;
  rows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  /** Discards everything that is not committed. Never rejects. */
  close(): Promise<void>;
}

/** The source, with the runs that are active at that moment. */
export interface CopySource extends CopyEnd {
  readonly held: readonly string[];
}

/** Nobody else can write to the target until it is committed or closed. */
export interface CopyTarget extends CopyEnd {
  insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  commit(): Promise<void>;
}

export const BATCH_SIZE = 4_000_000;
export const BATCH_ROWS = 1_000;

export function cellOf(row: Row, column: string): Cell {
  const value = row[column];
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new DamagedError(`column ${column} holds neither text nor a number`);
}
