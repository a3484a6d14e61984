import { readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../../base/errors.ts';
import { createAtomically } from '../../base/files/new-file.ts';
import { makeFolder, makePrivateFile } from './folder.ts';
import { checkOwner, createTables, type Layout, probeWrite } from './layout.ts';
import { loadSqlite } from './node-sqlite.ts';
import { isBusy, isOutOfRoom } from './store-error.ts';

/** The name of a database in memory, which nobody else sees and which ends with its connection. */
export const memoryFile = ':memory:';

/** An open database with its tables. */
export interface Connection {
  readonly database: DatabaseSync;
  /** The file, or `in memory`, for error messages. */
  readonly location: string;
  /** Tells the file from another one that takes its place. */
  readonly identity: string;
  /**
   * Throws STORE_FAILED when the file was removed or replaced, since writes to the open one would be lost.
   */
  requireSameFile(): void;
}

interface ConnectionOptions {
  readonly file: string;
  readonly layout: Layout;
  /** What a commit waits for: the disk, or nothing, so that a power loss may take the last commits. */
  readonly commitWaitsFor: 'disk' | 'nothing';
  /** How long to wait for locks of other processes. */
  readonly waitMs: number;
}

/** Opens the file, or makes it with its folder. Throws what SQLite and the system say, and STORE_FAILED. */
export async function openConnection(opening: ConnectionOptions): Promise<Connection> {
  const { file, waitMs } = opening;
  if (file === memoryFile) return openInMemory(opening.layout);
  if (isMissing(file)) createFile(opening);
  requireJournal(file);
  const database = connect(file);
  try {
    await retryWhileBusy(() => setUp(database, opening), waitMs);
    const identity = identityOf(file);
    return connectionTo(database, file, identity);
  } catch (error) {
    database.close();
    if (isOutOfRoom(error)) return openFull(opening, error);
    throw error;
  }
}

/**
 * What was kept on a disk that is full now can be read: the index of the journal, for which there is no room, is kept in memory,
 * and nobody else uses the store meanwhile. Every write fails with SQLITE_FULL. Throws the error where the store cannot be read either.
 */
function openFull({ file, layout }: ConnectionOptions, error: unknown): Connection {
  const database = connect(file);
  try {
    // Source: https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory
    database.exec(`PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; ${syncToDisk}; ${careful}`);
    inSnapshot(database, () => checkOwner(database, file, layout));
    return connectionTo(database, file, identityOf(file));
  } catch {
    database.close();
    throw error;
  }
}

/** A further connection to a file that is open in this process. Throws what SQLite says, and STORE_FAILED. */
export function joinConnection(file: string, identity: string): Connection {
  requireSameFile(file, identity);
  const database = connect(file);
  try {
    database.exec(`PRAGMA busy_timeout = 0; ${syncToDisk}; ${careful}`);
    return connectionTo(database, file, identity);
  } catch (error) {
    database.close();
    throw error;
  }
}

function connectionTo(database: DatabaseSync, file: string, identity: string): Connection {
  return { database, location: file, identity, requireSameFile: () => requireSameFile(file, identity) };
}

function openInMemory(layout: Layout): Connection {
  const database = connect(memoryFile);
  database.exec('PRAGMA foreign_keys = ON');
  transact(database, () => createTables(database, layout));
  return { database, location: 'in memory', identity: '', requireSameFile: () => {} };
}

function connect(file: string): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  return new DatabaseSync(file);
}

/**
 * Creates the file under another name and renames it when it is complete, so that an empty file means damage.
 */
function createFile(opening: ConnectionOptions): void {
  const { file } = opening;
  makeFolder(dirname(file));
  const write = (draft: string) => {
    makePrivateFile(draft);
    const database = connect(draft);
    try {
      setUp(database, opening);
    } finally {
      database.close();
    }
  };
  createAtomically(file, write, ['-journal', '-wal', '-shm']);
}

function setUp(database: DatabaseSync, { file, layout, commitWaitsFor }: ConnectionOptions): void {
  // SQLite's own waiting would block this process; untilFree waits instead.
  database.exec('PRAGMA busy_timeout = 0');
  // In one transaction, lest somebody makes the tables between two looks.
  inSnapshot(database, () => checkOwner(database, file, layout));
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') throw new Error(`its file system does not let processes share it: ${String(mode)}`);
  database.exec(commitWaitsFor === 'disk' ? syncToDisk : syncToSystem);
  database.exec(careful);
  transact(database, () => {
    checkOwner(database, file, layout);
    createTables(database, layout);
  });
  requireWritable(database, layout);
}

// fullfsync is what makes macOS write through its disk's cache.
const syncToDisk = 'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON';
// The system has it then, and writes it however this process ends.
const syncToSystem = 'PRAGMA synchronous = NORMAL';

// secure_delete overwrites what is pruned.
const careful = 'PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON';

function inSnapshot(database: DatabaseSync, look: () => void): void {
  database.exec('BEGIN');
  try {
    look();
  } finally {
    ignoreErrors(() => database.exec('ROLLBACK'));
  }
}

function requireWritable(database: DatabaseSync, layout: Layout): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    probeWrite(database, layout);
  } finally {
    ignoreErrors(() => database.exec('ROLLBACK'));
  }
}

/** Tries again, in growing pauses of up to 25 ms, while another process holds a lock. */
export async function retryWhileBusy<Result>(attempt: () => Result, waitMs: number): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    // Jitter, so that waiting processes do not collide again and again.
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
    ignoreErrors(() => database.exec('ROLLBACK'));
    throw error;
  }
}

function requireSameFile(file: string, identity: string): void {
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
  // A file that was cut to nothing is as good as removed.
  return stat === undefined || stat.size === 0n ? 'none' : `${stat.dev}:${stat.ino}`;
}

/** Runs work and ignores what it throws. */
export function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // Nothing can be done about it here.
  }
}

/**
 * Whether there is no such file yet. Throws STORE_FAILED where a file has lost its content, so that it is not
 * replaced by a new, empty store.
 */
function isMissing(file: string): boolean {
  const size = sizeOf(file);
  if (size === 0 && statSync(file).isFile()) {
    throw new RuntimeError('STORE_FAILED', `the state store ${file} is damaged: the file is empty`, {
      hint: `Restore a backup of ${file}; without one remove it, and a new store begins empty.`,
    });
  }
  if (size !== undefined) return false;
  // The -wal file is written only after the file exists.
  if ((sizeOf(`${file}-wal`) ?? 0) === 0 || sizeOf(file) !== undefined) return sizeOf(file) === undefined;
  throw new RuntimeError('STORE_FAILED', `the state store ${file} is gone, and ${file}-wal is still there`, {
    hint: `Put ${file} back, or restore a backup; without one remove ${file}-wal, and a new store begins empty.`,
  });
}

/**
 * Throws STORE_FAILED where the `-wal` file of a store is gone although its index, the `-shm` file, says that changes in it have
 * not been copied into the store. Whoever closes a store in peace removes both, after the copy.
 * Source: https://www.sqlite.org/walformat.html#the_wal_index_header
 */
function requireJournal(file: string): void {
  if (sizeOf(`${file}-wal`) !== undefined || (sizeOf(`${file}-shm`) ?? 0) < WAL_INDEX_BYTES) return;
  const index = readFileSync(`${file}-shm`);
  const numberAt = (at: number) => (endianness() === 'LE' ? index.readUInt32LE(at) : index.readUInt32BE(at));
  const isInUse = index[IS_INIT] === 1;
  if (!isInUse || numberAt(COPIED_FRAMES) >= numberAt(VALID_FRAMES)) return;
  throw new RuntimeError(
    'STORE_FAILED',
    `${file}-wal is gone, and with it changes that the state store ${file} does not have yet`,
    {
      hint: `Put ${file}-wal back, or restore a backup; without them remove ${file}-shm, and the store goes on as it was before these changes.`,
    },
  );
}

/** Two copies of the header, and what a checkpoint keeps behind them. */
const WAL_INDEX_BYTES = 136;
const IS_INIT = 12;
/** How many frames of the -wal file are valid, and how many of them a checkpoint has copied. */
const VALID_FRAMES = 16;
const COPIED_FRAMES = 96;

/** Undefined where there is none. Throws what the system says. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
