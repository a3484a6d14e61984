import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Claim } from '../store.ts';
import { checkRunId } from '../store-rules.ts';
import { memoryFile } from './connection.ts';
import type { Database } from './database.ts';
import { makePrivateFile, makeSingleFolder } from './folder.ts';
import { loadSqlite } from './node-sqlite.ts';
import { isBusy } from './store-error.ts';

/**
 * Locks for executing runs: one file per run beside the state, held as an exclusive SQLite transaction. The kernel
 * releases it when the process ends, however it ends; child processes do not inherit it.
 *
 * Files are opened, locked and removed only within a write transaction of the state, so that nobody can lock a file
 * that is about to be removed.
 */
export interface RunLocks {
  /** Undefined if the run is locked. Rejects with USAGE or STORE_FAILED. */
  claim(runId: string): Promise<Claim | undefined>;
  /** Removes unlocked files, and returns the locked runs. Needs a write transaction. */
  sweep(): Set<string>;
  releaseAll(): Promise<void>;
}

/** `requireGoingOn` runs within a read of the state, and throws if a claimed run has ended. */
export function createRunLocks(
  database: Pick<Database, 'file' | 'read' | 'write' | 'tryWrite'>,
  requireGoingOn: (runId: string) => void = () => {},
): RunLocks {
  const create = database.file === memoryFile ? createLocalLocks : createFileLocks;
  return create(database, requireGoingOn);
}

function createLocalLocks(
  { read }: Pick<Database, 'read'>,
  requireGoingOn: (runId: string) => void,
): RunLocks {
  const held = new Map<string, Claim>();
  return {
    claim: async (runId) => {
      checkRunId(runId);
      return await read(() => {
        if (held.has(runId)) return undefined;
        const claim: Claim = {
          confirm: () => read(() => requireGoingOn(runId)),
          isLive: () => held.get(runId) === claim,
          release: async () => {
            // A second release must not release a later claim of the run.
            if (held.get(runId) === claim) held.delete(runId);
          },
        };
        held.set(runId, claim);
        return claim;
      });
    },
    sweep: () => new Set(held.keys()),
    releaseAll: async () => held.clear(),
  };
}

function createFileLocks(
  database: Pick<Database, 'file' | 'read' | 'write' | 'tryWrite'>,
  requireGoingOn: (runId: string) => void,
): RunLocks {
  // The state file may be a symbolic link; all its users must find the same locks.
  const folder = `${realpathSync(database.file)}.locks`;
  const own = new Set<Lock>();
  const release = async (locks: readonly Lock[]) => {
    // A file that is left behind does no harm; `sweep` removes it.
    await database.tryWrite(() => {
      for (const lock of locks) if (unlock(lock)) rmSync(lock.path, { force: true });
    });
    for (const lock of locks) {
      unlock(lock);
      own.delete(lock);
    }
  };
  return {
    claim: async (runId) => {
      checkRunId(runId);
      const path = join(folder, `${runId}${SUFFIX}`);
      const lock = await database.write(() => takeLock(path, own));
      if (lock === undefined) return undefined;
      return {
        confirm: () => database.read(() => requireGoingOn(runId)),
        // A stopped process keeps its lock.
        isLive: () => own.has(lock),
        release: () => release([lock]),
      };
    },
    sweep: () => sweep(folder),
    releaseAll: () => release([...own]),
  };
}

const SUFFIX = '.lock';

interface Lock {
  readonly path: string;
  readonly connection: DatabaseSync;
}

/** Keeps connections from garbage collection, which would end a claim in use. */
const heldConnections = new Set<DatabaseSync>();

function takeLock(path: string, own: Set<Lock>): Lock | undefined {
  makeSingleFolder(dirname(path));
  // SQLite would create it with the mode of the umask.
  makePrivateFile(path);
  const connection = tryLock(path);
  if (connection === undefined) return undefined;
  const lock = { path, connection };
  heldConnections.add(connection);
  own.add(lock);
  return lock;
}

function unlock({ connection }: Lock): boolean {
  const wasHeld = heldConnections.delete(connection);
  if (wasHeld) connection.close();
  return wasHeld;
}

function tryLock(path: string): DatabaseSync | undefined {
  const { DatabaseSync } = loadSqlite();
  const connection = new DatabaseSync(path);
  try {
    // Otherwise SQLite would create a journal file here.
    connection.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return connection;
  } catch (error) {
    connection.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Holds the lock of a file while it works, waiting for others that hold it. Rejects with the abort reason. */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  makePrivateFile(path);
  for (;;) {
    const connection = tryLock(path);
    if (connection === undefined) {
      await setTimeout(POLL_MS, undefined, signal === undefined ? {} : { signal });
      continue;
    }
    try {
      return await work();
    } finally {
      connection.close();
    }
  }
}

const POLL_MS = 25;

function sweep(folder: string): Set<string> {
  const busy = lockFiles(folder).filter((name) => !removeIfFree(join(folder, name)));
  return new Set(busy.map((name) => name.slice(0, -SUFFIX.length)));
}

function lockFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch {
    return [];
  }
}

/** False if the file is locked, or cannot be examined or removed. */
function removeIfFree(path: string): boolean {
  try {
    const lock = tryLock(path);
    if (lock === undefined) return false;
    lock.close();
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}
