import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../../errors.ts';
import { defineChecksum } from './checksum.ts';
import { isBusy } from './failure.ts';
import { makeFolder, makePrivateFile } from './folder.ts';
import { checkOwner, createTables, type Layout, probeWrite } from './layout.ts';
import { loadSqlite } from './module.ts';
import { isMissing, publish } from './new-file.ts';
import type { Row } from './row.ts';
import { decodeText, encodeText } from './text.ts';

/** An open file, whose tables are there. */
export interface Connection {
  readonly database: DatabaseSync;
  /** Throws STORE_FAILED when the file was removed or replaced: it can still be written, and all of that is lost. */
  requireInPlace(): void;
}

export interface Opening {
  readonly file: string;
  readonly layout: Layout;
  /** What a commit waits for: the disk, or nothing, so that a loss of power takes the last ones with it. */
  readonly waitsFor: 'disk' | 'nothing';
  /** How long other processes may be in the way. */
  readonly waitMs: number;
}

/** Opens the file, or makes it with its folder. Throws what SQLite and the system say, and STORE_FAILED. */
export async function openConnection(opening: Opening): Promise<Connection> {
  const { file, waitMs } = opening;
  if (isMissing(file)) makeNew(opening);
  const database = connect(file);
  try {
    await untilFree(() => setUp(database, opening), waitMs);
    const identity = identityOf(file);
    return { database, requireInPlace: () => requireInPlace(file, identity) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function connect(file: string): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  defineChecksum(database);
  return database;
}

/** A new file appears under its name when it is whole, so that an empty one is never one that somebody is about to fill. */
function makeNew(opening: Opening): void {
  const { file } = opening;
  makeFolder(dirname(file));
  publish(file, (draft) => {
    makePrivateFile(draft);
    const database = connect(draft);
    try {
      setUp(database, opening);
    } finally {
      database.close();
    }
  });
}

function setUp(database: DatabaseSync, { file, layout, waitsFor }: Opening): void {
  // SQLite's own waiting would block this process; untilFree waits instead.
  database.exec('PRAGMA busy_timeout = 0');
  // In one transaction, lest somebody makes the tables between two looks.
  inSnapshot(database, () => checkOwner(database, file, layout));
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') throw new Error(`its file system does not let processes share it: ${String(mode)}`);
  database.exec(waitsFor === 'disk' ? written : handedOver);
  // secure_delete overwrites what is pruned.
  database.exec('PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON');
  transact(database, () => {
    checkOwner(database, file, layout);
    createTables(database, layout);
  });
  requireWritable(database, layout);
}

// fullfsync is what makes macOS write through its disk's cache.
const written = 'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON';
// The system has it then, and writes it however this process ends.
const handedOver = 'PRAGMA synchronous = NORMAL';

function inSnapshot(database: DatabaseSync, look: () => void): void {
  database.exec('BEGIN');
  try {
    look();
  } finally {
    quietly(() => database.exec('ROLLBACK'));
  }
}

function requireWritable(database: DatabaseSync, layout: Layout): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    probeWrite(database, layout);
  } finally {
    quietly(() => database.exec('ROLLBACK'));
  }
}

/** Tries again, in growing pauses of up to 25 ms, while another process holds a lock. */
export async function untilFree<Result>(attempt: () => Result, waitMs: number): Promise<Result> {
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

/** All of the work, or nothing; excludes every other writer. Throws what SQLite says. */
export function transact<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After some faults SQLite has rolled back by itself.
    quietly(() => database.exec('ROLLBACK'));
    throw error;
  }
}

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

/** A prepared statement with named parameters. */
export interface Statement {
  /** Returns how many rows were changed. */
  run(values?: Values): number;
  get(values?: Values): Row | undefined;
  all(values?: Values): Row[];
}

type Values = Readonly<Record<string, string | number | null>>;

/** Values go in and come out as they are, whatever SQLite does to some strings. */
export function createStatement(statement: StatementSync): Statement {
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

/** Where there is nothing left to do about a failure. */
export function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // As the name says.
  }
}
