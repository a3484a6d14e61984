import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { StoreWatch } from '../changes.ts';
import { type Driver, doNow } from '../driver.ts';
import {
  type Connection,
  ignoreErrors,
  memoryFile,
  openConnection,
  retryWhileBusy,
  transact,
} from './connection.ts';
import type { Row } from './row.ts';
import { stateLayout } from './schema.ts';
import { createStatement, type Statement } from './statement.ts';
import { guardWork, toStoreError } from './store-error.ts';
import type { Change } from './write/change.ts';
import { makeChange, makeChanges, openTables, type Tables } from './write/make-change.ts';
import { createWriteQueue } from './write/write-queue.ts';
import { createWriter, startThreadWriter, type Writer, type WriterChoice } from './write/writer.ts';

/** A connection with a writer. Work and changes run in the order of the calls. */
export interface Database {
  readonly file: string;
  readonly location: string;
  readonly tables: Tables;
  readonly driver: Driver;
  prepare(sql: string): Statement;
  /** Waits for locks without blocking this process. Rejects with STORE_FAILED. */
  read<Result>(work: () => Result): Promise<Result>;
  /** Reads stored rows at once, before queued writes. Throws STORE_FAILED. */
  readNow<Result>(work: () => Result): Result;
  /** Runs the work in an exclusive transaction; resolves when it is on the disk. */
  write<Result>(work: () => Result): Promise<Result>;
  /**
   * Batches concurrent changes; resolves to what `read` makes of the answer, once the change is on the disk. Large
   * batches do not block this thread. Rejects with STORE_FAILED or the refusal of the change.
   */
  change<Result>(change: Change, read: (answer: Row) => Result): Promise<Result>;
  /** Retries for a second, also while closing. Never rejects. */
  tryWrite(work: () => void): Promise<void>;
  /** Calls `onChange` after writes of any process to a file, or of this connection to memory. Never throws. */
  watch(onChange: () => void): StoreWatch;
  /** Empties the journal, which still contains removed data. Never rejects. */
  checkpoint(): Promise<void>;
  /** Refuses new work, completes queued work, then runs `finish` and closes. Never rejects. */
  close(finish: () => Promise<void>): Promise<void>;
}

export interface DatabaseOptions {
  readonly waitMs: number;
  readonly writer?: WriterChoice;
}

export async function openDatabase(file: string, options: DatabaseOptions | number): Promise<Database> {
  const { waitMs, writer = 'auto' } = typeof options === 'number' ? { waitMs: options } : options;
  try {
    const connection = await openConnection({ file, layout: stateLayout, commitWaitsFor: 'disk', waitMs });
    const opened = { connection, file, waitMs, tables: openTables(connection) };
    return file === memoryFile ? createMemory(opened) : createDatabase(opened, writer);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

interface OpenedDatabase {
  readonly connection: Connection;
  readonly tables: Tables;
  readonly file: string;
  readonly waitMs: number;
}

function createDatabase(opened: OpenedDatabase, choice: WriterChoice): Database {
  const { connection, tables, file, waitMs } = opened;
  const { database, location, requireSameFile } = connection;
  const writer = openWriter(opened, choice);
  const queue = createWriteQueue((changes) => writer.commit(changes));
  let closed: Promise<void> | undefined;
  const enqueue = <Result>(work: () => Result, retryMs: number): Promise<Result> =>
    queue.run(() =>
      retryWhileBusy(() => {
        requireSameFile();
        return work();
      }, retryMs),
    );
  const guard = guardWork(location, () => closed !== undefined);
  const read: Database['read'] = (work) => guard.later(() => enqueue(work, waitMs));
  const write: Database['write'] = (work) =>
    guard.later(() => enqueue(() => transact(database, work), waitMs));
  const close = async (finish: () => Promise<void>) => {
    await queue.onIdle();
    await finish();
    await writer.close();
    ignoreErrors(() => database.close());
  };
  return {
    ...{ file, location, tables, read, write },
    driver: driverOf({ location, tables, read, write }),
    prepare: (sql) => createStatement(database.prepare(sql)),
    readNow: (work) =>
      guard.now(() => {
        requireSameFile();
        return withBusyTimeout(database, work);
      }),
    change: (change, read) => guard.later(async () => read(await queue.change(change))),
    tryWrite: (work) => enqueue(() => transact(database, work), OPTIONAL_WRITE_MS).catch(() => {}),
    watch: (onChange) => watchDatabase(file, onChange),
    checkpoint: () => enqueue(() => database.exec(emptyJournal), 0).catch(() => {}),
    close: (finish) => {
      closed ??= close(finish);
      return closed;
    },
  };
}

function openWriter({ connection, tables, file, waitMs }: OpenedDatabase, choice: WriterChoice): Writer {
  const main: Writer = {
    commit: (changes) => retryWhileBusy(() => makeChanges(connection, tables, changes), waitMs),
    close: async () => {},
  };
  if (choice === 'main') return main;
  return createWriter(main, () => startThreadWriter({ file, identity: connection.identity, waitMs }), choice);
}

function driverOf({
  location,
  tables: { ask },
  read,
  write,
}: Pick<Database, 'location' | 'tables' | 'read' | 'write'>): Driver {
  return {
    ...{ location, isShared: false },
    read: (work) => read(() => doNow(work(), ask)),
    transact: (work) => write(() => doNow(work(), ask)),
  };
}

function createMemory({ connection, tables, file }: OpenedDatabase): Database {
  const { database, location } = connection;
  const watches = createLocalWatches();
  let isOpen = true;
  const { now: readNow } = guardWork(location, () => !isOpen);
  const read = async <Result>(work: () => Result): Promise<Result> => readNow(work);
  const write = async <Result>(work: () => Result): Promise<Result> => {
    const result = await read(() => transact(database, work));
    watches.notify();
    return result;
  };
  return {
    ...{ file, location, tables, read, readNow, write },
    driver: driverOf({ location, tables, read, write }),
    prepare: (sql) => createStatement(database.prepare(sql)),
    change: (change, read) => write(() => read(makeChange(tables, change))),
    tryWrite: async (work) => await write(work).catch(() => {}),
    watch: watches.watch,
    checkpoint: async () => {},
    close: async (finish) => {
      if (!isOpen) return;
      isOpen = false;
      await finish();
      ignoreErrors(() => database.close());
    },
  };
}

/** A reader waits only while another process recovers the journal, which is fast. */
function withBusyTimeout<Result>(database: Connection['database'], work: () => Result): Result {
  database.exec('PRAGMA busy_timeout = 250');
  try {
    return work();
  } finally {
    ignoreErrors(() => database.exec('PRAGMA busy_timeout = 0'));
  }
}

const emptyJournal = 'PRAGMA wal_checkpoint(TRUNCATE)';
const OPTIONAL_WRITE_MS = 1_000;

/** Each write goes to the journal beside the file. Never throws. */
export function watchDatabase(file: string, onChange: () => void): StoreWatch {
  let watcher: FSWatcher | undefined;
  const close = () => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    const real = realpathSync(file);
    const name = basename(real);
    // Watches the folder, because the journal comes and goes. Callers keep the process alive with a timer.
    watcher = watch(dirname(real), { persistent: false }, (_what, changed) => {
      if (changed === null || changed.startsWith(name)) onChange();
    });
    watcher.on('error', () => {
      close();
      onChange();
    });
  } catch {
    // Watches are limited per machine, and some file systems have none.
  }
  return { isLive: () => watcher !== undefined, close };
}

function createLocalWatches() {
  const listeners = new Set<() => void>();
  return {
    notify: () => {
      for (const onChange of listeners) onChange();
    },
    watch: (onChange: () => void): StoreWatch => {
      listeners.add(onChange);
      return { isLive: () => true, close: () => listeners.delete(onChange) };
    },
  };
}
