import { RuntimeError } from '../base/errors.ts';
import { changeMethods } from './change-methods.ts';
import { countedChanges } from './changes.ts';
import { identityMethods } from './identities.ts';
import { pinMethods } from './pins.ts';
import { createOutbox, readMethods } from './reads.ts';
import { callFromRow, textFromRow } from './rows.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { toKeptRecord } from './sqlite/record-parts.ts';
import { numberOf } from './sqlite/row.ts';
import { createRunLocks } from './sqlite/run-locks.ts';
import { toStoreError } from './sqlite/store-error.ts';
import { decide, findCall, hasApprovals, removeRuns, statusOf } from './sqlite/write/make-change.ts';
import type { WriterChoice } from './sqlite/write/writer.ts';
import type { Store } from './store.ts';
import { endedRunError, isEnded } from './store-rules.ts';

export interface SqliteOptions {
  readonly waitMs?: number;
  readonly writer?: WriterChoice;
}

/**
 * Opens the store in a database file, which processes share, or in `memoryFile`. Throws STORE_FAILED unless it is
 * writable.
 */
export async function openSqliteStore(file: string, options: SqliteOptions = {}): Promise<Store> {
  const database = await openDatabase(file, { waitMs: 30_000, ...options });
  try {
    return createStore(database);
  } catch (error) {
    await database.close(async () => {});
    throw toStoreError(error, file);
  }
}

function createStore(database: Database): Store {
  const { driver, tables } = database;
  const requireGoingOn = (id: string) => {
    const status = statusOf(tables, id);
    if (status !== undefined && isEnded(status)) throw endedRunError(id, status);
  };
  const locks = createRunLocks(database, requireGoingOn);
  const load = (runId: string) => (step: string, number: number) =>
    database.readNow(() => textFromRow(tables.readText.get({ run_id: runId, step, number }), step));
  return {
    location: database.location,
    outbox: createOutbox(driver),
    ...identityMethods(driver),
    ...pinMethods(driver),
    ...changeMethods(database),
    ...readMethods(driver, { load }),
    endStep: async (runId, step, outcome, at) => {
      const { record, fresh } = toKeptRecord(outcome, { runId, step });
      await database.change({ what: 'end_step', runId, step: { step, outcome: record, at } }, () => {});
      for (const text of fresh) text.release();
    },
    readText: ({ runId, step, number }) => load(runId)(step, number),
    decide: (id, decision, at, others) =>
      database.write(() => {
        const found = findCall(tables, id);
        if (found?.['ruling'] === null && found['expires_at'] !== null)
          requireClock(at, numberOf(tables.newestTime.get() ?? {}, 'newest'), database);
        tables.expireDue.run({ at });
        const isAccepted = hasApprovals(tables, { id, decision, others }) && decide(tables, id, decision, at);
        const row = findCall(tables, id);
        return row && { isAccepted, record: callFromRow(row) };
      }),
    prune: async (before) => {
      const pruned = await database.write(() => removeRuns(tables, before, locks.sweep()));
      if (pruned > 0) await database.checkpoint();
      return pruned;
    },
    claimRun: locks.claim,
    // Only the holder of the outermost run writes below it.
    coverRun: (id) => ({
      confirm: () => database.read(() => requireGoingOn(id)),
      isLive: () => true,
      release: async () => {},
    }),
    // A lock is tested by taking it, within a write transaction of the state.
    listClaimed: () => database.write(() => locks.sweep()),
    now: async () => Date.now(),
    watch: database.watch,
    changes: countedChanges(['pendings', 'runs'], driver, database.watch),
    close: () => database.close(locks.releaseAll),
  };
}

/**
 * Throws STORE_FAILED if the clock is clearly behind the newest stored time, because calls may have expired already.
 */
function requireClock(at: number, newest: number, { location }: Pick<Database, 'location'>): void {
  if (newest - at <= SET_RIGHT_MS) return;
  const message = `the clock of this machine went back: it shows ${new Date(at).toISOString()}, but the state store ${location} has recorded ${new Date(newest).toISOString()}`;
  throw new RuntimeError('STORE_FAILED', message, {
    hint: 'Correct the clock; until then, nothing that expires is decided. If the recorded time is wrong, `signalbox store reset-clock` sets it back to now.',
  });
}

const SET_RIGHT_MS = 1_000;
