import type { CopiedRow, CopiedTable } from './copied-table.ts';

/** One end of a copy: the tables of a part, as they are at one moment. Everything rejects with STORE_FAILED. */
export interface CopyEnd {
  /** The file or place, for messages. */
  readonly location: string;
  count(table: CopiedTable): Promise<number>;
  /** All rows in their order, in batches of a few MB, or of one row that is larger. */
  rows(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>;
  /** What is not committed is as if it had never been. Never rejects. */
  close(): Promise<void>;
}

/** Where rows are copied from. */
export interface CopySource extends CopyEnd {
  /** Runs that are being executed at this moment; empty: none. */
  readonly held: readonly string[];
  /** How many runs wait for workers, which a file does not have. */
  readonly queued: number;
}

/** Where rows go to; nobody else writes there until it is committed or closed. */
export interface CopyTarget extends CopyEnd {
  insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  commit(): Promise<void>;
}

/** What a batch holds at most, in characters or bytes. */
export const BATCH_SIZE = 4_000_000;
/** And in rows. */
export const BATCH_ROWS = 1_000;
