import type { PendingRecord } from '../../contract/approval.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { announce, type JournalContext, resolveDecisions } from './decision-wait.ts';
import type { Journal } from './journal.ts';

/** The journal of one run in a store. Only the holder of the run's claim may write it. */
export async function openJournal(store: Store, runId: string, context: JournalContext): Promise<Journal> {
  const outcomes = new Map<string, Json>();
  const cutOff = new Set<string>();
  for (const { step, outcome } of await store.listSteps(runId)) {
    if (outcome === null) cutOff.add(step);
    else outcomes.set(step, outcome);
  }
  const { requireHealthy, track } = trackStoreFailure();
  return {
    runId,
    find: (name) => outcomes.get(name),
    wasCutOff: (name) => cutOff.has(name),
    requireWritable: requireHealthy,
    step: async (name, work, { holdsSteps = false } = {}) => {
      const known = outcomes.get(name);
      if (known !== undefined) return known;
      requireHealthy();
      if (!holdsSteps) await track(beginStep(store, runId, name));
      const outcome = await work();
      await track(store.endStep(runId, name, outcome, Date.now()));
      outcomes.set(name, outcome);
      return outcome;
    },
    decide: async (calls, notify) => {
      requireHealthy();
      const records: PendingRecord[] = [];
      for (const call of calls) records.push(await track(store.addPending(call)));
      for (const record of records) {
        announce(record, context);
        if (record.ruling === null) await notify?.(record);
      }
      return await resolveDecisions(store, records, context);
    },
  };
}

/**
 * Remembers the first failed write, so that no further step begins in any loop or branch of the run: a full
 * store may still take the small record of a beginning, and then not the outcome. `requireHealthy` throws
 * that failure.
 */
function trackStoreFailure() {
  let failure: RuntimeError | undefined;
  return {
    requireHealthy: () => {
      if (failure !== undefined) throw failure;
    },
    track: async <Result>(writing: Promise<Result>): Promise<Result> => {
      try {
        return await writing;
      } catch (error) {
        failure ??= toRuntimeError(error, 'STORE_FAILED');
        throw error;
      }
    },
  };
}

/** Records that the step begins. Throws RUN_ENDED if another process has cancelled the run. */
async function beginStep(store: Store, runId: string, name: string): Promise<void> {
  if ((await store.findRunStatus(runId)) === 'cancelled')
    throw new RuntimeError('RUN_ENDED', `run ${runId} was cancelled`);
  await store.beginStep(runId, name, Date.now());
}
