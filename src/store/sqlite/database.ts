import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { RuntimeError } from '../../errors.ts';
import { storeClosed } from '../rules.ts';
import { isBusy, toStoreError } from './failure.ts';
import { makeFolder, makePrivateFile } from './folder.ts';
import { loadSqlite } from './module.ts';
import type { Row } from './row.ts';
import { checkOwner, createTables, probeWrite } from './schema.ts';
import { decodeText, encodeText } from './text.ts';

/** One connection. Its work is done one after another, in the order in which it was asked for. */
export interface Database {
  readonly file: string;
  prepare(sql: string): Statement;
  /** Throws STORE_FAILED; waits while other processes are in the way, without holding this one up. */
  read<Result>(work: () => Result): Promise<Result>;
  /** The same in one transaction, which excludes every other writer: all of it is on the disk, or nothing. */
  write<Result>(work: () => Result): Promise<Result>;
  /** A write that may as well not happen; it is tried for a second, while closing too. Never rejects. */
  tidy(work: () => void): Promise<void>;
  /** Empties the journal beside the file, which still holds what was removed from it. Never rejects. */
  checkpoint(): Promise<void>;
  /** Refuses new work, does what was asked for before, `finish` last, and closes. Never rejects. */
  close(finish: () => Promise<void>): Promise<void>;
}

/** A prepared statement with named parameters. */
export interface Statement {
  /** Returns how many rows were changed. */
  run(values?: Values): number;
  get(values?: Values): Row | undefined;
  all(values?: Values): Row[];
}

type Values = Readonly<Record<string, string | number | null>>;

/** Opens the database, or makes it with its folder. `waitMs`: how long other processes may be in the way. Throws STORE_FAILED. */
export async function openDatabase(file: string, waitMs: number): Promise<Database> {
  try {
    const connection = connect(file);
    try {
      await untilFree(() => setUp(connection, file), waitMs);
      return createDatabase({ connection, file, waitMs, identity: identityOf(file) });
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

function connect(file: string): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  makeFolder(dirname(file));
  makePrivateFile(file);
  return new DatabaseSync(file);
}

function setUp(connection: DatabaseSync, file: string): void {
  // SQLite's own waiting would block this process; untilFree waits instead.
  connection.exec('PRAGMA busy_timeout = 0');
  // In one transaction, lest somebody makes the tables between two looks.
  inSnapshot(connection, () => checkOwner(connection, file));
  const mode = connection.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') throw new Error(`its file system does not let processes share it: ${String(mode)}`);
  // fullfsync is what makes macOS write through its disk's cache; secure_delete overwrites what is pruned.
  connection.exec(`PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
    PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON`);
  transact(connection, () => {
    checkOwner(connection, file);
    createTables(connection);
  });
  requireWritable(connection);
}

function inSnapshot(connection: DatabaseSync, look: () => void): void {
  connection.exec('BEGIN');
  try {
    look();
  } finally {
    quietly(() => connection.exec('ROLLBACK'));
  }
}

function requireWritable(connection: DatabaseSync): void {
  connection.exec('BEGIN IMMEDIATE');
  try {
    probeWrite(connection);
  } finally {
    quietly(() => connection.exec('ROLLBACK'));
  }
}

interface Opened {
  readonly connection: DatabaseSync;
  readonly file: string;
  readonly waitMs: number;
  /** The file that was opened, whatever has its name later. */
  readonly identity: string;
}

function createDatabase({ connection, file, waitMs, identity }: Opened): Database {
  const queue = new PQueue({ concurrency: 1 });
  let closed: Promise<void> | undefined;
  const enqueue = <Result>(work: () => Result, patienceMs: number): Promise<Result> => {
    const attempt = () => {
      requireInPlace(file, identity);
      return work();
    };
    return queue.add(() => untilFree(attempt, patienceMs));
  };
  const ask = async <Result>(work: () => Result): Promise<Result> => {
    if (closed !== undefined) throw storeClosed(file);
    try {
      return await enqueue(work, waitMs);
    } catch (error) {
      throw toStoreError(error, file);
    }
  };
  const close = async (finish: () => Promise<void>) => {
    await queue.onIdle();
    await finish();
    quietly(() => connection.close());
  };
  return {
    file,
    prepare: (sql) => createStatement(connection.prepare(sql)),
    read: ask,
    write: (work) => ask(() => transact(connection, work)),
    tidy: (work) => enqueue(() => transact(connection, work), TIDY_MS).catch(() => {}),
    checkpoint: () => enqueue(() => connection.exec('PRAGMA wal_checkpoint(TRUNCATE)'), 0).catch(() => {}),
    close: (finish) => {
      closed ??= close(finish);
      return closed;
    },
  };
}

const TIDY_MS = 1_000;

/** Tries again, in growing pauses of up to 25 ms, while another process holds a lock. */
async function untilFree<Result>(attempt: () => Result, waitMs: number): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    // Uneven, so that those who wait do not meet again and again.
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}

function transact<Result>(connection: DatabaseSync, work: () => Result): Result {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (error) {
    // After some faults SQLite has rolled back by itself.
    quietly(() => connection.exec('ROLLBACK'));
    throw error;
  }
}

/** A file that was removed or replaced can still be written, and everything written to it is lost. */
function requireInPlace(file: string, identity: string): void {
  if (identityOf(file) === identity) return;
  throw new RuntimeError(
    'STORE_FAILED',
    `the state store ${file} was removed or replaced while it was in use`,
    {
      hint: 'Open the runtime anew; end every process that uses the store before you restore a backup.',
    },
  );
}

function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}

function createStatement(statement: StatementSync): Statement {
  return {
    run: (values = {}) => Number(statement.run(encode(values)).changes),
    get: (values = {}) => {
      const row = statement.get(encode(values));
      return row && decode(row);
    },
    all: (values = {}) => statement.all(encode(values)).map(decode),
  };
}

function encode(values: Values): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? encodeText(value) : value,
    ]),
  );
}

function decode(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // There is nothing left to do about it.
  }
}
