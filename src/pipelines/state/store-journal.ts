import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { fenced } from '../../base/time/fence.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import type { Claim, StepRecord, Store } from '../../store/store.ts';
import { createKeyOf } from './call-keys.ts';
import { callRecord } from './call-record.ts';
import { announce, type JournalContext, resolveDecisions } from './decision-wait.ts';
import type { Journal } from './journal.ts';
import { createKeptOutcomes } from './kept-outcomes.ts';
import { type CurrentSteps, splitName, toCurrentSteps } from './retries.ts';
import { createRunTexts } from './run-texts.ts';

/** What earlier attempts at the same step of another run did. */
export interface EarlierRuns {
  /** The id of the first one, with which keys of calls begin. */
  readonly first: string;
  /** The oldest first. */
  readonly records: readonly StepRecord[];
  /** How many there were, each retry counted. */
  readonly count: number;
}

/** The journal of one run in a store, for the holder of its claim. */
export async function openJournal(
  store: Store,
  runId: string,
  context: JournalContext & { readonly claim: Claim },
  earlier?: EarlierRuns,
): Promise<Journal> {
  const outcomes = createKeptOutcomes();
  const cutOff = new Set<string>();
  const texts = createRunTexts(store, runId);
  const steps = toCurrentSteps(runId, await store.listSteps(runId));
  const { storedName, editionOf } = steps;
  for (const { step, outcome } of steps.redone) {
    if (outcome !== null) texts.add(outcome);
    // Of several times the last one counts.
    if (mayHaveActed(outcome)) cutOff.add(splitName(step).path);
    else cutOff.delete(splitName(step).path);
  }
  for (const [step, { outcome }] of steps.current) {
    if (outcome === null) {
      cutOff.add(step);
      continue;
    }
    outcomes.set(step, outcome);
    texts.add(outcome);
  }
  const keys = keysOf(runId, steps, earlier);
  const { root = runId, place = '' } = context;
  const { claim, around } = context;
  const { requireHealthy, track } = trackStoreFailure();
  const isLive = () => claim.isLive() && around?.isLive() !== false;
  const admitBy = async (look: () => Promise<unknown>) => {
    requireHealthy();
    await around?.admit();
    await track(look());
    // Another write may have failed meanwhile.
    requireHealthy();
  };
  const { defer, settle } = createDeferred();
  return {
    ...{ runId, editionOf, retries: steps.retries, ...keys },
    ...{ around, fence: { isLive, admit: () => admitBy(() => claim.confirm()) } },
    ...(steps.last?.from !== undefined && { retriedFrom: steps.last.from }),
    now: () => track(store.now()),
    find: outcomes.find,
    forget: outcomes.forget,
    wasCutOff: (name) => cutOff.has(name),
    requireWritable: requireHealthy,
    settle,
    // No step is called so.
    adopt: (output) => texts.adopt('/output', output),
    step: async (name, work, { holdsSteps = false, isDeferred = holdsSteps, beginsInSlot = false } = {}) => {
      const known = outcomes.find(name);
      if (known !== undefined) return known;
      requireHealthy();
      const stored = storedName(name);
      let begun: Promise<unknown> | undefined;
      const begin = () => {
        // What was deferred is kept before this, in the same transaction if nothing has kept it yet.
        begun = Promise.all([settle(), track(beginStep(store, runId, stored))]);
        return begun;
      };
      if (!holdsSteps && !beginsInSlot) await begin();
      let refusal: RuntimeError | undefined;
      const admit = async () => {
        try {
          // As it keeps the beginning, the store looks who owns the run.
          await admitBy(() => (begun === undefined ? begin() : claim.confirm()));
        } catch (error) {
          refusal ??= toRuntimeError(error, 'STORE_FAILED');
          throw error;
        }
      };
      const value = await (holdsSteps ? work() : fenced({ admit, isLive }, work));
      // What was made of a call that was not allowed to start is no outcome.
      if (refusal !== undefined) throw refusal;
      const outcome = texts.adopt(stored, value);
      const ending = track(store.endStep(runId, stored, outcome, Date.now()));
      if (isDeferred) defer(ending);
      else await ending;
      outcomes.set(name, outcome);
      return outcome;
    },
    withdraw: async (isInside, reason) => {
      const ruling = { kind: 'rejected', by: 'signalbox', reason } as const;
      const open = await track(store.listPendings({ runId: root, below: true, open: true }, Date.now()));
      for (const { id, step, parent, runId: own } of open) {
        const whole = `${parent === undefined ? '' : `${parent.step}/`}${step}`;
        const isOurs = own === runId || whole.startsWith(place);
        if (isOurs && isInside(own === runId ? step : whole.slice(place.length)))
          await track(store.decide(id, ruling, Date.now()));
      }
    },
    decide: async (calls, { notify, signal = context.signal }) => {
      requireHealthy();
      await settle();
      const records: PendingRecord[] = [];
      for (const call of calls) records.push(await track(store.addPending(call)));
      for (const record of records) {
        announce(record, context);
        if (record.ruling === null) await notify?.(record);
      }
      return await resolveDecisions(store, records, { ...context, signal });
    },
  };
}

/** Of a run whose calls are compared with earlier ones: its own, before a retry, and those of earlier attempts. */
function keysOf(
  runId: string,
  steps: CurrentSteps,
  earlier: EarlierRuns | undefined,
): Pick<Journal, 'keyOf' | 'keyRunId'> {
  if (earlier === undefined) return steps.redone.length === 0 ? {} : { keyOf: createKeyOf(runId, steps) };
  const redone = [...earlier.records, ...steps.redone];
  const retries = earlier.count + steps.retries;
  return { keyOf: createKeyOf(runId, { ...steps, redone, retries }), keyRunId: earlier.first };
}

/** Whether nobody knows if work that is to be done again was done: it was cut off, or its answer never came. */
function mayHaveActed(outcome: Json | null): boolean {
  if (outcome === null) return true;
  try {
    const { outcome: came } = callRecord.read(outcome, '');
    return came.status === 'failed' && unansweredCodes.has(came.error.code);
  } catch {
    // It is no call.
    return false;
  }
}

const unansweredCodes: ReadonlySet<string> = new Set(['ABORTED', 'PROCESS_TIMEOUT', 'SERVER_EXIT']);

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

/** Outcomes that are being kept while the run goes on to its next beginning. */
function createDeferred() {
  const deferred = new Set<Promise<void>>();
  return {
    defer: (ending: Promise<void>): void => {
      deferred.add(ending);
      // One that fails stays, so that whoever settles is told.
      ending.then(
        () => deferred.delete(ending),
        () => {},
      );
    },
    settle: async (): Promise<void> => void (await Promise.all(deferred)),
  };
}

/** Records that the step begins. Throws RUN_ENDED if another process has cancelled the run. */
async function beginStep(store: Store, runId: string, name: string): Promise<void> {
  await store.beginStep(runId, name, Date.now(), { unlessCancelled: true });
}
