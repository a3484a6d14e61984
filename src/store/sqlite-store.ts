import { RuntimeError } from '../base/errors.ts';
import { changeMethods } from './change-methods.ts';
import { noticeFromRow } from './outbox/notice-row.ts';
import type { Outbox } from './outbox/outbox.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { fromKeptRecord, toKeptRecord } from './sqlite/record-parts.ts';
import { numberOrNull, textOf } from './sqlite/row.ts';
import { createRunLocks, type RunLocks } from './sqlite/run-locks.ts';
import { toStoreError } from './sqlite/store-error.ts';
import { OUTPUT } from './sqlite/text-table.ts';
import type { WriterChoice } from './sqlite/write/writer.ts';
import type { Store } from './store.ts';
import { endedRunError, isEnded } from './store-rules.ts';

export interface SqliteOptions {
  /** How long a call waits while other processes write. */
  readonly waitMs?: number;
  /** Which thread writes what a run keeps. */
  readonly writer?: WriterChoice;
}

/**
 * The store in a database file, which many processes may use at once, or in `memoryFile`. Throws STORE_FAILED unless it
 * can be written.
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
  const requireGoingOn = (id: string) => {
    const status = database.tables.runs.statusOf(id);
    if (status !== undefined && isEnded(status)) throw endedRunError(id, status);
  };
  const parts: StoreParts = { database, locks: createRunLocks(database, requireGoingOn) };
  return {
    location: database.location,
    outbox: sqliteOutbox(database),
    ...changeMethods(database),
    ...runMethods(parts),
    ...stepMethods(parts),
    ...pendingMethods(parts),
    claimRun: parts.locks.claim,
    // Nobody writes below a run who does not hold its lock.
    coverRun: (id) => ({
      confirm: () => database.read(() => requireGoingOn(id)),
      isLive: () => true,
      release: async () => {},
    }),
    // A lock is looked at as it is taken: within a write transaction of the state.
    listClaimed: () => database.write(() => parts.locks.sweep()),
    now: async () => Date.now(),
    watch: database.watch,
    close: () => database.close(parts.locks.releaseAll),
  };
}

interface StoreParts {
  readonly database: Database;
  readonly locks: RunLocks;
}

function runMethods({
  database,
  locks,
}: StoreParts): Pick<Store, 'findRun' | 'findRunStatus' | 'listRuns' | 'prune'> {
  const { runs, texts } = database.tables;
  const outputOf = (runId: string, kept: string) => {
    const refs = texts.refsOf(runId, OUTPUT);
    return refs === undefined
      ? undefined
      : fromKeptRecord(kept, refs, { runId, load: textLoader(database, runId) });
  };
  return {
    findRun: (id) => database.read(() => runs.find(id, outputOf)),
    findRunStatus: (id) => database.read(() => runs.statusOf(id)),
    listRuns: (filter = {}) => database.read(() => runs.list(filter, outputOf)),
    prune: async (before) => {
      const pruned = await database.write(() => {
        const heldRuns = locks.sweep();
        const old = runs.endedBefore(before).filter((id) => !heldRuns.has(id));
        for (const id of old) runs.remove(id);
        return old.length;
      });
      if (pruned > 0) await database.checkpoint();
      return pruned;
    },
  };
}

function stepMethods({
  database,
}: StoreParts): Pick<Store, 'endStep' | 'listSteps' | 'pageSteps' | 'readText' | 'listHistory'> {
  const { steps, texts } = database.tables;
  const { allRefs, refsAmong } = texts;
  const source = { allRefs, refsAmong, load: (runId: string) => textLoader(database, runId) };
  return {
    endStep: async (runId, step, outcome, at) => {
      const { record, fresh } = toKeptRecord(outcome, { runId, step });
      await database.change({ what: 'end_step', runId, step: { step, outcome: record, at } });
      for (const text of fresh) text.release();
    },
    listSteps: (runId) => database.read(() => steps.list(runId, source)),
    readText: ({ runId, step, number }) => textLoader(database, runId)(step, number),
    pageSteps: (runId, page) => database.read(() => steps.page(runId, page, source)),
    listHistory: (runId, limit) => database.read(() => steps.history(runId, limit)),
  };
}

/** Reads the long texts of a run. */
function textLoader(database: Database, runId: string) {
  return (step: string, number: number) =>
    database.readNow(() => database.tables.texts.read(runId, step, number));
}

function pendingMethods({
  database,
}: StoreParts): Pick<
  Store,
  'summarizeRuns' | 'decide' | 'findPending' | 'listPendings' | 'listExpired' | 'listDue'
> {
  const { pendings, suspensions } = database.tables;
  /** Reads; writes expiries first only when some are due, so that plain reads take no write lock. */
  const readWithExpiry = async <Result>(at: number, work: () => Result): Promise<Result> => {
    const seen = await database.read(() => (pendings.hasDue(at) ? undefined : { result: work() }));
    if (seen !== undefined) return seen.result;
    return await database.write(() => {
      pendings.expireDue(at);
      return work();
    });
  };
  return {
    decide: (id, decision, at) =>
      database.write(() => {
        const found = pendings.find(id);
        if (found?.ruling === null && found.expiresAt !== null)
          requireClock(at, pendings.newestTime(), database);
        pendings.expireDue(at);
        const isAccepted = pendings.decide(id, decision, at);
        const record = pendings.find(id);
        return record && { isAccepted, record };
      }),
    findPending: (id, at) => readWithExpiry(at, () => pendings.find(id)),
    summarizeRuns: (filter, at) => readWithExpiry(at, () => database.tables.runs.summarize(filter)),
    listPendings: (filter, at) => readWithExpiry(at, () => pendings.list(filter)),
    listExpired: (at) => readWithExpiry(at, () => pendings.runsExpired()),
    listDue: (filter) => readWithExpiry(filter.at, () => suspensions.due(filter)),
  };
}

/**
 * Throws STORE_FAILED where the clock is behind the newest time that was kept, by more than clocks are set right by: time may have
 * decided already what is to be decided.
 */
function requireClock(at: number, newest: number, { location }: Pick<Database, 'location'>): void {
  if (newest - at <= SET_RIGHT_MS) return;
  const message = `the clock of this machine went back: it says ${new Date(at).toISOString()}, and the state store ${location} has kept ${new Date(newest).toISOString()}`;
  throw new RuntimeError('STORE_FAILED', message, {
    hint: 'Set the clock; nothing that expires is decided before. If the kept time is wrong, `signalbox store reset-clock` sets it back to now.',
  });
}

const SET_RIGHT_MS = 1_000;

function sqliteOutbox(database: Database): Outbox {
  const rules = database.prepare(
    'SELECT target, event FROM notify_rules WHERE config = :config ORDER BY event, target',
  );
  const clear = database.prepare('DELETE FROM notify_rules WHERE config = :config');
  const insert = database.prepare(
    'INSERT OR IGNORE INTO notify_rules (event, config, target) VALUES (:event, :config, :target)',
  );
  const wanted = 'target IN (SELECT value FROM json_each(:targets))';
  const due = database.prepare(
    `SELECT * FROM notices WHERE ${wanted} AND due_at <= :at ORDER BY due_at, seq LIMIT :limit`,
  );
  const lease = database.prepare(
    'UPDATE notices SET attempts = attempts + 1, due_at = :due_at WHERE seq = :seq',
  );
  const remove = database.prepare('DELETE FROM notices WHERE seq = :seq');
  const postpone = database.prepare('UPDATE notices SET due_at = :due_at WHERE seq = :seq');
  const next = database.prepare(`SELECT min(due_at) AS due_at FROM notices WHERE ${wanted}`);
  return {
    setRules: async (config, given) => {
      const keyOf = (rule: { event: string; target: string }) => `${rule.event} ${rule.target}`;
      const kept = await database.read(() =>
        rules.all({ config }).map((row) => `${textOf(row, 'event')} ${textOf(row, 'target')}`),
      );
      if (kept.toSorted().join('\n') === given.map(keyOf).toSorted().join('\n')) return;
      await database.write(() => {
        clear.run({ config });
        for (const { event, target } of given) insert.run({ event, config, target });
      });
    },
    take: async (targets, at, { leaseMs, limit }) => {
      const values = { targets: JSON.stringify(targets), at, limit };
      // Nobody writes to find that there is nothing.
      if ((await database.read(() => due.all({ ...values, limit: 1 }))).length === 0) return [];
      return await database.write(() =>
        due.all(values).map((row) => {
          const notice = noticeFromRow(row);
          lease.run({ seq: notice.seq, due_at: at + leaseMs });
          return { ...notice, attempts: notice.attempts + 1 };
        }),
      );
    },
    remove: (seq) => database.write(() => void remove.run({ seq })),
    postpone: (seq, at, ms) => database.write(() => void postpone.run({ seq, due_at: at + ms })),
    nextDue: async (targets, at) => {
      const row = await database.read(() => next.get({ targets: JSON.stringify(targets) }));
      const dueAt = row && numberOrNull(row, 'due_at');
      return dueAt === null || dueAt === undefined ? undefined : Math.max(0, dueAt - at);
    },
  };
}
