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

export const memoryFile = ':memory:';

export interface Connection {
  readonly database: DatabaseSync;
  readonly location: string;
  /** Distinguishes the file from one that replaces it. */
  readonly identity: string;
  /** Throws STORE_FAILED if the file was removed or replaced, because writes would be lost. */
  requireSameFile(): void;
}

interface ConnectionOptions {
  readonly file: string;
  readonly layout: Layout;
  /** With `nothing`, a power loss may take the last commits. */
  readonly commitWaitsFor: 'disk' | 'nothing';
  /** How long to wait for locks of other processes, in ms. */
  readonly waitMs: number;
}

/** Opens or creates the file. Throws errors of SQLite and the system, and STORE_FAILED. */
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
 * Opens a store on a full disk for reading. The index of the journal is kept in memory, so no other process can use the
 * store. Writes fail with SQLITE_FULL. Throws the given error if the store is unreadable too.
 */
function openFull({ file, layout }: ConnectionOptions, error: unknown): Connection {
  const database = connect(file);
  try {
    // Source: https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory
    database.exec(`PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; ${syncToDisk}; ${careful}`);
    // An upgrade would write.
    inSnapshot(database, () => checkOwner(database, file, { ...layout, upgrades: [] }));
    return connectionTo(database, file, identityOf(file));
  } catch {
    database.close();
    throw error;
  }
}

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

/** Creates the file under another name and renames it when it is complete, so that an empty file means damage. */
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
  // The wait of SQLite would block this process; `retryWhileBusy` waits instead.
  database.exec('PRAGMA busy_timeout = 0');
  // In one transaction, because another process may create the tables meanwhile.
  inSnapshot(database, () => checkOwner(database, file, layout));
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal')
    throw new Error(`its file system does not support sharing between processes: ${String(mode)}`);
  database.exec(commitWaitsFor === 'disk' ? syncToDisk : syncToSystem);
  database.exec(careful);
  transact(database, () => {
    checkOwner(database, file, layout);
    createTables(database, layout);
  });
  requireWritable(database, layout);
}

// On macOS only fullfsync writes through the cache of the disk.
const syncToDisk = 'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON';
// The system writes it even if this process dies.
const syncToSystem = 'PRAGMA synchronous = NORMAL';

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

/** Retries with growing pauses of up to 25 ms while another process holds a lock. */
export async function retryWhileBusy<Result>(attempt: () => Result, waitMs: number): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    // Jitter, so that waiting processes do not collide repeatedly.
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}

export function transact<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite rolls back by itself after some errors.
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
      hint: 'Open the runtime again; end every process that uses the store before you restore a backup.',
    },
  );
}

function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  // An empty file counts as removed.
  return stat === undefined || stat.size === 0n ? 'none' : `${stat.dev}:${stat.ino}`;
}

export function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {}
}

/** Throws STORE_FAILED for a file that lost its content, so that no empty store replaces it. */
function isMissing(file: string): boolean {
  const size = sizeOf(file);
  if (size === 0 && statSync(file).isFile()) {
    throw new RuntimeError('STORE_FAILED', `the state store ${file} is damaged: the file is empty`, {
      hint: `Restore a backup of ${file}; without one, remove it, and a new store starts empty.`,
    });
  }
  if (size !== undefined) return false;
  // The -wal file is written only after the file exists.
  if ((sizeOf(`${file}-wal`) ?? 0) === 0 || sizeOf(file) !== undefined) return sizeOf(file) === undefined;
  throw new RuntimeError('STORE_FAILED', `the state store ${file} is missing, but ${file}-wal still exists`, {
    hint: `Put ${file} back, or restore a backup; without one, remove ${file}-wal, and a new store starts empty.`,
  });
}

/**
 * Throws STORE_FAILED if the `-wal` file is gone although its index, the `-shm` file, lists changes that were not
 * copied into the store. A clean close removes both after the copy. Source:
 * https://www.sqlite.org/walformat.html#the_wal_index_header
 */
function requireJournal(file: string): void {
  if (sizeOf(`${file}-wal`) !== undefined || (sizeOf(`${file}-shm`) ?? 0) < WAL_INDEX_BYTES) return;
  const index = readFileSync(`${file}-shm`);
  const numberAt = (at: number) => (endianness() === 'LE' ? index.readUInt32LE(at) : index.readUInt32BE(at));
  const isInUse = index[IS_INIT] === 1;
  if (!isInUse || numberAt(COPIED_FRAMES) >= numberAt(VALID_FRAMES)) return;
  throw new RuntimeError(
    'STORE_FAILED',
    `${file}-wal is missing, and with it changes that are not yet in the state store ${file}`,
    {
      hint: `Put ${file}-wal back, or restore a backup; without them, remove ${file}-shm, and the store continues without these changes.`,
    },
  );
}

const WAL_INDEX_BYTES = 136;
const IS_INIT = 12;
/** The number of valid frames in the -wal file, and of those that a checkpoint copied. */
const VALID_FRAMES = 16;
const COPIED_FRAMES = 96;

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
