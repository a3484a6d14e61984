import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createBatches } from '../batches.ts';
import { type Driver, doNow } from '../driver.ts';
import {
  type Connection,
  ignoreErrors,
  memoryFile,
  openConnection,
  retryWhileBusy,
  transact,
} from '../sqlite/connection.ts';
import type { Layout } from '../sqlite/layout.ts';
import { createRunLocks } from '../sqlite/run-locks.ts';
import { createAsk, createStatement } from '../sqlite/statement.ts';
import { guardWork, toStoreError } from '../sqlite/store-error.ts';
import { closedStoreError } from '../store-rules.ts';
import { keyTables, toSqliteTables } from '../tables.ts';
import { type KeysTables, openKeysTables } from './count-tables.ts';

/** Keys, usage and active calls in a file that processes share. */
export interface KeysDatabase {
  readonly tables: KeysTables;
  readonly driver: Driver;
  read<Result>(work: () => Result): Promise<Result>;
  /**
   * Runs the work in an exclusive transaction, batched with concurrent work. Work that throws fails alone. Resolves
   * when the result survives the end of this process. Rejects with STORE_FAILED.
   */
  change<Result>(work: () => Result): Promise<Result>;
  /** A mark of this process, held until it closes or dies. Rejects with STORE_FAILED. */
  claimOwner(): Promise<string>;
  /** The owners whose process lives. Only within `change`. */
  liveOwners(): ReadonlySet<string>;
  close(): Promise<void>;
}

interface KeysDatabaseOptions {
  /** How long to wait for locks of other processes, in ms. */
  readonly waitMs?: number;
  /** What a change waits for: the disk, or the system, which syncs about a second later. */
  readonly commitWaitsFor: 'disk' | 'nothing';
}

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
  // Each checkpoint syncs on this thread, so several hundred calls share one.
  if (syncsLater) database.exec('PRAGMA wal_autocheckpoint = 4000');
  let isClosing = false;
  const attempt = <Result>(work: () => Result) =>
    retryWhileBusy(() => {
      requireSameFile();
      return work();
    }, waitMs);
  const guard = guardWork(location, () => isClosing);
  const journal = syncsLater && file !== memoryFile ? createJournalSync(file) : undefined;
  const queue = createBatches(async (works: readonly (() => unknown)[]) => {
    const results = await attempt(() => transact(database, () => works.map((work) => work())));
    journal?.touch();
    return results;
  });
  const add = async <Result>(work: () => Result) => (await queue.add(work)) as Result;
  const read = <Result>(work: () => Result) => guard.later(() => attempt(work));
  const change = <Result>(work: () => Result) => guard.later(() => add(work));
  const locks = createRunLocks({ file, read, write: change, tryWrite: (work) => add(work).catch(() => {}) });
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  const ask = createAsk(prepare);
  let closed: Promise<void> | undefined;
  const close = async () => {
    isClosing = true;
    await queue.onIdle();
    await locks.releaseAll();
    await journal?.close();
    ignoreErrors(() => database.close());
  };
  return {
    ...{ tables: openKeysTables(prepare), read, change },
    driver: {
      ...{ location, isShared: false },
      read: (work) => read(() => doNow(work(), ask)),
      transact: (work) => change(() => doNow(work(), ask)),
    },
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

/** Syncs the journal within about a second of each commit, in the thread pool of libuv. */
function createJournalSync(file: string) {
  const journal = `${realpathSync(file)}-wal`;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    touch: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        running = running.then(() => sync(journal));
      }, SYNC_AFTER_MS).unref();
    },
    close: async () => {
      clearTimeout(timer);
      await running;
    },
  };
}

const SYNC_AFTER_MS = 1000;

/** Never rejects. The journal may be removed by a closing connection, and the next commit reports a failed disk. */
async function sync(journal: string): Promise<void> {
  try {
    const handle = await open(journal, 'r');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch {}
}

const generation = `
CREATE TABLE generation (number INTEGER NOT NULL) STRICT;
INSERT INTO generation VALUES (1);
`;

const heldTriggers = `
CREATE TRIGGER lease_begins AFTER INSERT ON leases BEGIN
  INSERT INTO held (key, calls, cost) VALUES (NEW.key, 1, NEW.cost)
  ON CONFLICT DO UPDATE SET calls = calls + 1, cost = cost + excluded.cost;
END;
CREATE TRIGGER lease_changes AFTER UPDATE OF cost ON leases BEGIN
  UPDATE held SET cost = cost + NEW.cost - OLD.cost WHERE key = NEW.key;
END;
CREATE TRIGGER lease_ends AFTER DELETE ON leases BEGIN
  UPDATE held SET calls = calls - 1, cost = cost - OLD.cost WHERE key = OLD.key;
END;
`;

const generationTriggers = ['keys', 'secrets']
  .flatMap((table) =>
    ['INSERT', 'UPDATE', 'DELETE'].map(
      (change) => `CREATE TRIGGER ${table}_${change.toLowerCase()} AFTER ${change} ON ${table} BEGIN
  UPDATE generation SET number = number + 1;
END;`,
    ),
  )
  .join('\n');

/** "SGBK": keys of the gateway, their usage, and active calls. */
export const keysLayout: Layout = {
  applicationId: 0x5347424b,
  version: 2,
  upgrades: ['ALTER TABLE keys ADD COLUMN role TEXT; ALTER TABLE keys ADD COLUMN tools TEXT;'],
  tables: toSqliteTables(keyTables) + generation + heldTriggers + generationTriggers,
};
