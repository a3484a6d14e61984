import { randomBytes } from 'node:crypto';
import {
  type Connection,
  ignoreErrors,
  memoryFile,
  openConnection,
  retryWhileBusy,
  transact,
} from '../sqlite/connection.ts';
import { guardWork } from '../sqlite/guard-work.ts';
import { createRunLocks, type RunLocks } from '../sqlite/run-locks.ts';
import { createStatement } from '../sqlite/statement.ts';
import { toStoreError } from '../sqlite/store-error.ts';
import { closedStoreError } from '../store-rules.ts';
import { createJournalSync } from './journal-sync.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { keysLayout } from './layout.ts';
import { createLeaseTable, type LeaseTable } from './lease-table.ts';
import { createRateTable, type RateTable } from './rate-table.ts';
import { createUsageTable, type UsageTable } from './usage-table.ts';
import { createWorkQueue } from './work-queue.ts';

/** The tables of a keys database, over one connection. */
export interface KeysTables {
  readonly keys: KeyTable;
  readonly usage: UsageTable;
  readonly rates: RateTable;
  readonly leases: LeaseTable;
}

/** Keys, usage and calls under way, in a file that many processes may use at once. */
export interface KeysDatabase {
  /** The file, or `in memory`, for error messages. */
  readonly location: string;
  readonly tables: KeysTables;
  /** Reads at once what was kept. Rejects with STORE_FAILED. */
  read<Result>(work: () => Result): Promise<Result>;
  /**
   * Does the work in a transaction that excludes every other writer, together with others that are asked for at that time.
   * Work that throws fails alone. It is kept, whatever becomes of this process, when this resolves. Rejects with STORE_FAILED.
   */
  change<Result>(work: () => Result): Promise<Result>;
  /** A mark of this process, which is held until it closes or ends, however it ends. Rejects with STORE_FAILED. */
  claimOwner(): Promise<string>;
  /** The owners whose process lives. Within `change` only. */
  liveOwners(): ReadonlySet<string>;
  /** Completes what was asked for, and closes. Never rejects. */
  close(): Promise<void>;
}

export interface KeysDatabaseOptions {
  /** How long other processes may be in the way, in ms. */
  readonly waitMs?: number;
  /** What a change waits for: the disk, or only the system, which has it on the disk about a second later. */
  readonly commitWaitsFor: 'disk' | 'nothing';
}

/** Opens the file, or makes it with its folder; or `memoryFile`. Throws STORE_FAILED. */
export async function openKeysDatabase(
  file: string,
  { waitMs = 10_000, commitWaitsFor }: KeysDatabaseOptions,
): Promise<KeysDatabase> {
  try {
    const connection = await openConnection({ file, layout: keysLayout, commitWaitsFor, waitMs });
    try {
      return createDatabase(connection, { file, waitMs, syncsLater: commitWaitsFor === 'nothing' });
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw toStoreError(error, file);
  }
}

interface Opening {
  readonly file: string;
  readonly waitMs: number;
  readonly syncsLater: boolean;
}

function createDatabase(connection: Connection, { file, waitMs, syncsLater }: Opening): KeysDatabase {
  const { database, location, requireSameFile } = connection;
  // Each checkpoint waits for the disk, on this thread: a few hundred calls share one.
  if (syncsLater) database.exec('PRAGMA wal_autocheckpoint = 4000');
  let isClosing = false;
  const attempt = <Result>(work: () => Result) =>
    retryWhileBusy(() => {
      requireSameFile();
      return work();
    }, waitMs);
  const guard = guardWork(location, () => isClosing);
  const journal = syncsLater && file !== memoryFile ? createJournalSync(file) : undefined;
  const queue = createWorkQueue(async (works) => {
    await attempt(() =>
      transact(database, () => {
        for (const work of works) work();
      }),
    );
    journal?.touch();
  });
  const read = <Result>(work: () => Result) => guard.later(() => attempt(work));
  const change = <Result>(work: () => Result) => guard.later(() => queue.add(work));
  const locks = openLocks(file, { read, write: change, tryWrite: (work) => queue.add(work).catch(() => {}) });
  let closed: Promise<void> | undefined;
  const close = async () => {
    isClosing = true;
    await queue.onIdle();
    await locks.releaseAll();
    await journal?.close();
    ignoreErrors(() => database.close());
  };
  return {
    ...{ location, tables: openTables(connection), read, change },
    claimOwner: async () => {
      const owner = `gateway_${randomBytes(9).toString('hex')}`;
      if ((await locks.claim(owner)) === undefined) throw closedStoreError(location);
      return owner;
    },
    liveOwners: locks.sweep,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function openTables({ database }: Connection): KeysTables {
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  return {
    keys: createKeyTable({ prepare }),
    usage: createUsageTable({ prepare }),
    rates: createRateTable({ prepare }),
    leases: createLeaseTable({ prepare }),
  };
}

function openLocks(file: string, database: Omit<Parameters<typeof createRunLocks>[0], 'file'>): RunLocks {
  return createRunLocks({ file, ...database });
}
