import PQueue from 'p-queue';
import { storeClosed } from '../rules.ts';
import {
  type Connection,
  createStatement,
  openConnection,
  quietly,
  type Statement,
  transact,
  untilFree,
} from './connection.ts';
import { toStoreError } from './failure.ts';
import { stateLayout } from './schema.ts';

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

/** Opens the database, or makes it with its folder. `waitMs`: how long other processes may be in the way. Throws STORE_FAILED. */
export async function openDatabase(file: string, waitMs: number): Promise<Database> {
  try {
    const connection = await openConnection({ file, layout: stateLayout, waitsFor: 'disk', waitMs });
    return createDatabase({ connection, file, waitMs });
  } catch (error) {
    throw toStoreError(error, file);
  }
}

interface Opened {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}

function createDatabase({ connection, file, waitMs }: Opened): Database {
  const { database, requireInPlace } = connection;
  const queue = new PQueue({ concurrency: 1 });
  let closed: Promise<void> | undefined;
  const enqueue = <Result>(work: () => Result, patienceMs: number): Promise<Result> => {
    const attempt = () => {
      requireInPlace();
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
    quietly(() => database.close());
  };
  return {
    file,
    prepare: (sql) => createStatement(database.prepare(sql)),
    read: ask,
    write: (work) => ask(() => transact(database, work)),
    tidy: (work) => enqueue(() => transact(database, work), TIDY_MS).catch(() => {}),
    checkpoint: () => enqueue(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'), 0).catch(() => {}),
    close: (finish) => {
      closed ??= close(finish);
      return closed;
    },
  };
}

const TIDY_MS = 1_000;
