import type { RunStatus } from '../contract/run.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { createPendingTable, type PendingTable } from './sqlite/pending-table.ts';
import { createRunLocks, type RunLocks } from './sqlite/run-locks.ts';
import { createRunTable, type RunTable } from './sqlite/run-table.ts';
import { createStepTable, type StepTable } from './sqlite/step-table.ts';
import { toStoreError } from './sqlite/store-error.ts';
import type { Store } from './store.ts';
import {
  checkRunId,
  decisionOfEndedRun,
  duplicateRunError,
  isEnded,
  unknownRunError,
} from './store-rules.ts';

export interface SqliteOptions {
  /** How long a call waits while other processes write. */
  readonly waitMs?: number;
}

/**
 * The store in a database file, which many processes may use at once, or in `memoryFile`. Throws STORE_FAILED unless it
 * can be written.
 */
export async function openSqliteStore(file: string, { waitMs = 30_000 }: SqliteOptions = {}): Promise<Store> {
  const database = await openDatabase(file, waitMs);
  try {
    return createStore(database);
  } catch (error) {
    await database.close(async () => {});
    throw toStoreError(error, file);
  }
}

function createStore(database: Database): Store {
  const parts: StoreParts = {
    database,
    locks: createRunLocks(database),
    runs: createRunTable(database),
    steps: createStepTable(database),
    pendings: createPendingTable(database),
  };
  return {
    location: database.location,
    ...runMethods(parts),
    ...stepMethods(parts),
    ...pendingMethods(parts),
    claimRun: parts.locks.claim,
    watch: database.watch,
    close: () => database.close(parts.locks.releaseAll),
  };
}

interface StoreParts {
  readonly database: Database;
  readonly locks: RunLocks;
  readonly runs: RunTable;
  readonly steps: StepTable;
  readonly pendings: PendingTable;
}

function runMethods(
  parts: StoreParts,
): Pick<Store, 'createRun' | 'findRun' | 'findRunStatus' | 'listRuns' | 'setRunStatus' | 'prune'> {
  const { database, runs, pendings, locks } = parts;
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      const isNew = await database.write(() => runs.insert(run));
      if (!isNew) throw duplicateRunError(run.id, database.location);
    },
    findRun: (id) => database.read(() => runs.find(id)),
    findRunStatus: (id) => database.read(() => runs.statusOf(id)),
    listRuns: (filter = {}) => database.read(() => runs.list(filter)),
    setRunStatus: (id, change) =>
      database.write(() => {
        if (!runs.change(id, change)) return false;
        if (!isEnded(change.status)) return true;
        pendings.expireDue(change.at);
        pendings.decideOpen(id, decisionOfEndedRun(change.status), change.at);
        return true;
      }),
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

function stepMethods(parts: StoreParts): Pick<Store, 'beginStep' | 'endStep' | 'listSteps' | 'listHistory'> {
  const { database, runs, steps } = parts;
  return {
    beginStep: (runId, step, at) =>
      database.write(() => {
        requireStatus(runs, runId, database);
        return { attempt: steps.begin(runId, step, at) };
      }),
    endStep: (runId, step, outcome, at) =>
      database.write(() => {
        requireStatus(runs, runId, database);
        steps.end({ runId, step, outcome, at });
      }),
    listSteps: (runId) => database.read(() => steps.list(runId)),
    listHistory: (runId) => database.read(() => steps.history(runId)),
  };
}

function pendingMethods({
  database,
  runs,
  pendings,
}: StoreParts): Pick<Store, 'addPending' | 'decide' | 'findPending' | 'listPendings' | 'listExpired'> {
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
    addPending: (call) =>
      database.write(() => {
        const existing = pendings.find(call.id);
        if (existing !== undefined) return existing;
        const status = requireStatus(runs, call.runId, database);
        pendings.insert(call);
        if (isEnded(status)) pendings.decide(call.id, decisionOfEndedRun(status), call.createdAt);
        return pendings.find(call.id) ?? throwMissingRow();
      }),
    decide: (id, decision, at) =>
      database.write(() => {
        pendings.expireDue(at);
        const isAccepted = pendings.decide(id, decision, at);
        const record = pendings.find(id);
        return record && { isAccepted, record };
      }),
    findPending: (id, at) => readWithExpiry(at, () => pendings.find(id)),
    listPendings: (filter, at) => readWithExpiry(at, () => pendings.list(filter)),
    listExpired: (at) => readWithExpiry(at, () => pendings.runsExpired()),
  };
}

/** Throws RUN_UNKNOWN. */
function requireStatus(runs: RunTable, id: string, { location }: Database): RunStatus {
  const status = runs.statusOf(id);
  if (status === undefined) throw unknownRunError(id, location);
  return status;
}

function throwMissingRow(): never {
  throw new Error('a row that was just written is not there');
}
