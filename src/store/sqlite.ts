import type { RunStatus } from '../contract/run.ts';
import { checkRunId, isEnded, rulingOfEndedRun, runExists, runUnknown } from './rules.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { toStoreError } from './sqlite/failure.ts';
import { createRunLocks, type RunLocks } from './sqlite/locks.ts';
import { createMomentTable, type MomentTable } from './sqlite/moments.ts';
import { createPendingTable, type PendingTable } from './sqlite/pendings.ts';
import { createRunTable, type RunTable } from './sqlite/runs.ts';
import { createStepTable, type StepTable } from './sqlite/steps.ts';
import { watchDatabase } from './sqlite/watch.ts';
import type { Store } from './store.ts';

export interface SqliteOptions {
  /** How long a call waits while other processes write. */
  readonly waitMs?: number;
}

/** The store in a database file, which many processes may use at once. Throws STORE_FAILED unless it can be written. */
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
  const parts: Parts = {
    database,
    locks: createRunLocks(database),
    runs: createRunTable(database),
    steps: createStepTable(database),
    pendings: createPendingTable(database),
    moments: createMomentTable(database),
  };
  return {
    place: database.file,
    ...runMethods(parts),
    ...stepMethods(parts),
    ...pendingMethods(parts),
    claimRun: parts.locks.claim,
    watch: (tell) => watchDatabase(database.file, tell),
    close: () => database.close(parts.locks.releaseAll),
  };
}

interface Parts {
  readonly database: Database;
  readonly locks: RunLocks;
  readonly runs: RunTable;
  readonly steps: StepTable;
  readonly pendings: PendingTable;
  readonly moments: MomentTable;
}

function runMethods(
  parts: Parts,
): Pick<Store, 'createRun' | 'findRun' | 'findRunStatus' | 'listRuns' | 'setRunStatus' | 'prune'> {
  const { database, runs, pendings, locks } = parts;
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      const isNew = await database.write(() => runs.insert(run));
      if (!isNew) throw runExists(run.id, database.file);
    },
    findRun: (id) => database.read(() => runs.find(id)),
    findRunStatus: (id) => database.read(() => runs.statusOf(id)),
    listRuns: (filter = {}) => database.read(() => runs.list(filter)),
    setRunStatus: (id, change) =>
      database.write(() => {
        if (!runs.change(id, change)) return false;
        if (!isEnded(change.status)) return true;
        pendings.expireDue(change.at);
        pendings.ruleOpen(id, rulingOfEndedRun(change.status), change.at);
        return true;
      }),
    prune: async (before) => {
      const pruned = await database.write(() => {
        const held = locks.sweep();
        const old = runs.endedBefore(before).filter((id) => !held.has(id));
        for (const id of old) runs.remove(id);
        return old.length;
      });
      if (pruned > 0) await database.checkpoint();
      return pruned;
    },
  };
}

function stepMethods(parts: Parts): Pick<Store, 'beginStep' | 'endStep' | 'listSteps' | 'listMoments'> {
  const { database, runs, steps, moments } = parts;
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
    listMoments: (runId) => database.read(() => moments.list(runId)),
  };
}

function pendingMethods({
  database,
  runs,
  pendings,
}: Parts): Pick<Store, 'addPending' | 'decide' | 'findPending' | 'listPendings' | 'listExpired'> {
  /** Expiries are written only when there are any: to look is no reason to write. */
  const look = async <Result>(at: number, work: () => Result): Promise<Result> => {
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
        const kept = pendings.find(call.id);
        if (kept !== undefined) return kept;
        const status = requireStatus(runs, call.runId, database);
        pendings.insert(call);
        if (isEnded(status)) pendings.rule(call.id, rulingOfEndedRun(status), call.createdAt);
        return pendings.find(call.id) ?? fail();
      }),
    decide: (id, ruling, at) =>
      database.write(() => {
        pendings.expireDue(at);
        const won = pendings.rule(id, ruling, at);
        const record = pendings.find(id);
        return record && { won, record };
      }),
    findPending: (id, at) => look(at, () => pendings.find(id)),
    listPendings: (filter, at) => look(at, () => pendings.list(filter)),
    listExpired: (at) => look(at, () => pendings.runsExpired()),
  };
}

/** Throws RUN_UNKNOWN. */
function requireStatus(runs: RunTable, id: string, { file }: Database): RunStatus {
  const status = runs.statusOf(id);
  if (status === undefined) throw runUnknown(id, file);
  return status;
}

function fail(): never {
  throw new Error('a row that was just written is not there');
}
