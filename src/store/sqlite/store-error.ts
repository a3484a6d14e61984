import { RuntimeError } from '../../base/errors.ts';
import { closedStoreError } from '../store-rules.ts';
import { DamagedError } from './row.ts';

/** Whether another connection holds the lock, so that a retry may succeed. */
export function isBusy(thrown: unknown): boolean {
  const code = resultCodeOf(thrown);
  return code !== undefined && BUSY.has(code & 0xff);
}

/** Whether the disk is full: SQLITE_FULL, or SQLITE_IOERR for a file that could not grow. */
export function isOutOfRoom(thrown: unknown): boolean {
  const code = resultCodeOf(thrown);
  return code !== undefined && ((code & 0xff) === SQLITE_FULL || OUT_OF_ROOM.has(code));
}

/** SQLITE_IOERR_WRITE, _FSYNC, _TRUNCATE, _SHMOPEN, _SHMSIZE, _SHMMAP. Source: https://www.sqlite.org/rescode.html */
const OUT_OF_ROOM: ReadonlySet<number> = new Set([778, 1034, 1546, 4618, 4874, 5386]);

/** Turns errors of SQLite or the file system into STORE_FAILED; a RuntimeError passes unchanged. */
export function toStoreError(thrown: unknown, file: string): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const code = resultCodeOf(thrown);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const known = isDamage(thrown, code)
    ? damaged
    : code === undefined
      ? undefined
      : failuresByCode.get(code & 0xff);
  const { name, what, hint }: KnownFailure = known ?? { what: 'failed' };
  const because = name === undefined ? reason : `${name}: ${reason}`;
  return new RuntimeError('STORE_FAILED', `the state store ${file} ${what} (${because})`, {
    hint: hint?.(file) ?? `Check that the folder of ${file} is writable and its disk has room.`,
    details: code === undefined ? {} : { sqlite_code: code },
    cause: thrown,
  });
}

/** Whether stored data is damaged although SQLite reports no error of the file. */
function isDamage(thrown: unknown, code: number | undefined): boolean {
  if (thrown instanceof DamagedError) return true;
  // No column of ours has such a number.
  if (thrown instanceof RangeError && 'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE') return true;
  if (code !== undefined && CONSTRAINT_CODES.has(code)) return true;
  return code === SQLITE_ERROR && thrown instanceof Error && missingSchema.test(thrown.message);
}

const SQLITE_ERROR = 1;
const SQLITE_FULL = 13;
/** CHECK, FOREIGNKEY, NOTNULL and DATATYPE: our writes violate these only if stored data is damaged. */
const CONSTRAINT_CODES: ReadonlySet<number> = new Set([275, 787, 1299, 3091]);
const missingSchema = /^no such (table|column)|has no column named|ON CONFLICT clause does not match/;

function resultCodeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined;
  return typeof thrown.errcode === 'number' ? thrown.errcode : undefined;
}

interface KnownFailure {
  readonly name?: string;
  readonly what: string;
  readonly hint?: (file: string) => string;
}

const permissionHint = (file: string) =>
  `Signalbox writes ${file} and files next to it: check the permissions of both the file and its folder.`;
const restoreHint = (file: string) =>
  `Move ${file} and its -wal and -shm files away, and restore a backup; without one, a new store starts empty.`;

const damaged: KnownFailure = { what: 'is damaged', hint: restoreHint };

/** By primary result code. Source: https://www.sqlite.org/rescode.html */
const failuresByCode: ReadonlyMap<number, KnownFailure> = new Map([
  [3, { name: 'SQLITE_PERM', what: 'cannot be accessed', hint: permissionHint }],
  [
    5,
    {
      name: 'SQLITE_BUSY',
      what: 'was locked by another process for too long',
      hint: (file: string) => `Find out which other process locks ${file}, and call again.`,
    },
  ],
  [8, { name: 'SQLITE_READONLY', what: 'cannot be written', hint: permissionHint }],
  [10, { name: 'SQLITE_IOERR', what: 'could not be read or written' }],
  [11, { name: 'SQLITE_CORRUPT', what: 'is damaged', hint: restoreHint }],
  [
    13,
    {
      name: 'SQLITE_FULL',
      what: 'has no disk space left',
      hint: (file: string) => `Free space on the disk of ${file}; this call stored nothing.`,
    },
  ],
  [14, { name: 'SQLITE_CANTOPEN', what: 'cannot be opened', hint: permissionHint }],
  [15, { name: 'SQLITE_PROTOCOL', what: 'was locked by other processes for too long' }],
  [
    26,
    {
      name: 'SQLITE_NOTADB',
      what: 'is not a database',
      hint: (file: string) =>
        `${file} is another file, or damaged: choose another path in spec.state_store, or restore a backup.`,
    },
  ],
]);

const BUSY: ReadonlySet<number> = new Set([5, 15]);

/**
 * Runs work of a store. Both methods throw STORE_FAILED if the store is closed, and for errors of SQLite or the system.
 */
export interface WorkGuard {
  now<Result>(work: () => Result): Result;
  later<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function guardWork(location: string, isClosed: () => boolean): WorkGuard {
  const requireOpen = () => {
    if (isClosed()) throw closedStoreError(location);
  };
  return {
    now: (work) => {
      requireOpen();
      try {
        return work();
      } catch (error) {
        throw toStoreError(error, location);
      }
    },
    later: async (work) => {
      requireOpen();
      try {
        return await work();
      } catch (error) {
        throw toStoreError(error, location);
      }
    },
  };
}
