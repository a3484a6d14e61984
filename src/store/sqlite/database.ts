import PQueue from 'p-queue';
import type { StoreWatch } from '../store.ts';
import { closedStoreError } from '../store-rules.ts';
import {
  type Connection,
  ignoreErrors,
  memoryFile,
  openConnection,
  retryWhileBusy,
  transact,
} from './connection.ts';
import { createLocalWatches, watchDatabase } from './database-watch.ts';
import { stateLayout } from './schema.ts';
import { createStatement, type Statement } from './statement.ts';
import { toStoreError } from './store-error.ts';

/** One connection. Its work runs one after another, in the order of the calls. */
export interface Database {
  readonly file: string;
  /** The file, or `in memory`, for error messages. */
  readonly location: string;
  prepare(sql: string): Statement;
  /** Runs work; waits for locks of other processes without blocking this one. Rejects with STORE_FAILED. */
  read<Result>(work: () => Result): Promise<Result>;
  /** The same in one transaction, which excludes every other writer: all of it is on the disk, or nothing. */
  write<Result>(work: () => Result): Promise<Result>;
  /** A write that may fail; it is retried for a second, also while closing. Never rejects. */
  tryWrite(work: () => void): Promise<void>;
  /** Calls `onChange` after writes of any process to a file, or of this connection to a memory. Never throws. */
  watch(onChange: () => void): StoreWatch;
  /** Empties the journal beside the file, which still holds what was removed from it. Never rejects. */
  checkpoint(): Promise<void>;
  /** Refuses new work, completes queued work, then `finish`, and closes. Never rejects. */
  close(finish: () => Promise<void>): Promise<void>;
}

/** Opens the database, or makes it with its folder. `waitMs`: how long other processes may be in the way. Throws STORE_FAILED. */
export async function openDatabase(file: string, waitMs: number): Promise<Database> {
  try {
    const connection = await openConnection({ file, layout: stateLayout, commitWaitsFor: 'disk', waitMs });
    return createDatabase({ connection, file, waitMs });
  } catch (error) {
    throw toStoreError(error, file);
  }
}

interface OpenedDatabase {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}

function createDatabase({ connection, file, waitMs }: OpenedDatabase): Database {
  const { database, location, requireSameFile } = connection;
  const queue = new PQueue({ concurrency: 1 });
  const local = file === memoryFile ? createLocalWatches() : undefined;
  let closed: Promise<void> | undefined;
  const enqueue = async <Result>(work: () => Result, retryMs: number): Promise<Result> => {
    // Nobody else can be in the way of a database in memory.
    if (local !== undefined) return work();
    const attempt = () => {
      requireSameFile();
      return work();
    };
    return await queue.add(() => retryWhileBusy(attempt, retryMs));
  };
  const run = async <Result>(work: () => Result): Promise<Result> => {
    if (closed !== undefined) throw closedStoreError(location);
    try {
      return await enqueue(work, waitMs);
    } catch (error) {
      throw toStoreError(error, location);
    }
  };
  const close = async (finish: () => Promise<void>) => {
    await queue.onIdle();
    await finish();
    ignoreErrors(() => database.close());
  };
  return {
    file,
    location,
    prepare: (sql) => createStatement(database.prepare(sql)),
    read: run,
    write: async (work) => {
      const result = await run(() => transact(database, work));
      local?.notify();
      return result;
    },
    tryWrite: (work) => enqueue(() => transact(database, work), OPTIONAL_WRITE_MS).catch(() => {}),
    watch: (onChange) => local?.watch(onChange) ?? watchDatabase(file, onChange),
    checkpoint: async () => {
      if (local === undefined) await enqueue(() => database.exec(emptyJournal), 0).catch(() => {});
    },
    close: (finish) => {
      closed ??= close(finish);
      return closed;
    },
  };
}

const emptyJournal = 'PRAGMA wal_checkpoint(TRUNCATE)';
const OPTIONAL_WRITE_MS = 1_000;
