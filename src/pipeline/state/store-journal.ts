import type { PendingCall, PendingRecord, Ruling } from '../../contract/approval.ts';
import type { Emit, PendingOpened } from '../../contract/event.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { readRuling } from '../../tool-call/read-decision.ts';
import { type Journal, type Ruled, RunPaused } from './journal.ts';
import { openLookout } from './store-watch.ts';

/** How a run waits for people. */
export interface Waiting {
  /** Goes on in this process when the decision comes from elsewhere; otherwise the run is set down. */
  readonly wait: boolean;
  /** Asks somebody on the spot; undefined, and a rejection, which is noted: nobody there decided. */
  readonly ask?: ((pending: PendingRecord) => Promise<Ruling | undefined>) | undefined;
  /** Told of each call once it is durable that it waits; must not throw. */
  readonly onPending?: ((pending: PendingRecord) => void) | undefined;
}

export interface JournalContext extends Waiting {
  readonly emit: Emit;
  /** Ends a wait. */
  readonly signal: AbortSignal;
}

/** The journal of one run in a store. Only the holder of the run's claim may write it. */
export async function openJournal(store: Store, runId: string, context: JournalContext): Promise<Journal> {
  const outcomes = new Map<string, Json>();
  const cutOff = new Set<string>();
  for (const { step, outcome } of await store.listSteps(runId)) {
    if (outcome === null) cutOff.add(step);
    else outcomes.set(step, outcome);
  }
  const { requireSound, watch } = createSoundness();
  return {
    runId,
    find: (name) => outcomes.get(name),
    wasCutOff: (name) => cutOff.has(name),
    requireWanted: requireSound,
    step: async (name, work, { holdsSteps = false } = {}) => {
      const known = outcomes.get(name);
      if (known !== undefined) return known;
      requireSound();
      const attempt = holdsSteps ? 1 : await watch(begin(store, runId, name));
      const outcome = await work({ attempt });
      await watch(store.endStep(runId, name, outcome, Date.now()));
      outcomes.set(name, outcome);
      return outcome;
    },
    decide: async (calls, tell) => {
      requireSound();
      const records: PendingRecord[] = [];
      for (const call of calls) records.push(await watch(store.addPending(call)));
      for (const record of records) {
        announce(record, context);
        if (record.ruling === null) await tell?.(record);
      }
      return await decided(store, records, context);
    },
  };
}

/**
 * What could not be kept sets the run down, and nothing more of it is begun, in whatever loop or branch that would be: a
 * store that is full still takes the small note that something begins, and then not what came of it.
 */
function createSoundness() {
  let failure: RuntimeError | undefined;
  return {
    requireSound: () => {
      if (failure !== undefined) throw failure;
    },
    watch: async <Result>(writing: Promise<Result>): Promise<Result> => {
      try {
        return await writing;
      } catch (error) {
        failure ??= toRuntimeError(error, 'STORE_FAILED');
        throw error;
      }
    },
  };
}

/** How often the step has been begun. */
async function begin(store: Store, runId: string, name: string): Promise<number> {
  await requireWanted(store, runId);
  return (await store.beginStep(runId, name, Date.now())).attempt;
}

/** Somebody may have cancelled the run meanwhile, from another process. */
async function requireWanted(store: Store, runId: string): Promise<void> {
  if ((await store.findRunStatus(runId)) === 'cancelled')
    throw new RuntimeError('RUN_ENDED', `run ${runId} was cancelled`);
}

function announce(record: PendingRecord, { emit, onPending }: JournalContext): void {
  if (record.ruling !== null) return;
  emit(openedEvent(record));
  onPending?.(record);
}

/** What is told of a call once it is durable that it waits. */
export function openedEvent({ id, runId, step, tool, reason, message }: PendingCall): PendingOpened {
  return { type: 'pending.opened', id, run: runId, step, tool, reason, message };
}

async function decided(
  store: Store,
  records: readonly PendingRecord[],
  context: JournalContext,
): Promise<readonly Ruled[]> {
  let current = await refresh(store, records);
  if (context.ask !== undefined) {
    for (const record of current) if (record.ruling === null) await askOne(store, record, context);
    current = await refresh(store, current);
  }
  if (!current.every(isRuled)) {
    if (!context.wait) throw new RunPaused();
    current = await waitFor(store, current, context.signal);
  }
  const ruled = current.filter(isRuled);
  if (ruled.some(({ ruling }) => ruling.kind === 'cancelled')) {
    throw new RuntimeError('RUN_ENDED', 'the run was cancelled');
  }
  for (const { id, runId, step, tool, ruling } of ruled) {
    context.emit({ type: 'pending.decided', id, run: runId, step, tool, ruling: ruling.kind });
  }
  return ruled;
}

async function askOne(store: Store, record: PendingRecord, context: JournalContext): Promise<void> {
  const ruling = await rulingOf(record, context);
  // Somebody else may have been quicker: then theirs is the ruling that the refresh finds.
  if (ruling !== undefined) await store.decide(record.id, ruling, Date.now());
}

async function rulingOf(record: PendingRecord, { ask, emit }: JournalContext): Promise<Ruling | undefined> {
  try {
    const given: unknown = await ask?.(record);
    return given === undefined ? undefined : readRuling(record, given);
  } catch (error) {
    const message = `nobody could be asked: ${toRuntimeError(error).message}`;
    emit({ type: 'note', name: record.id, level: 'warn', message });
    return undefined;
  }
}

/** Waits until somebody, in whatever process, has decided about all of them, or they have expired. Throws ABORTED, STORE_FAILED. */
async function waitFor(
  store: Store,
  records: readonly PendingRecord[],
  signal: AbortSignal,
): Promise<PendingRecord[]> {
  const lookout = openLookout(store, signal);
  try {
    // What was decided before the watch began is seen now.
    let current = await refresh(store, records);
    while (!current.every(isRuled)) {
      const dues = current.flatMap(({ ruling, expiresAt }) =>
        ruling !== null || expiresAt === null ? [] : [expiresAt],
      );
      await lookout.next(dues.length === 0 ? undefined : Math.min(...dues));
      current = await refresh(store, current);
    }
    return current;
  } finally {
    lookout.close();
  }
}

async function refresh(store: Store, records: readonly PendingRecord[]): Promise<PendingRecord[]> {
  const fresh: PendingRecord[] = [];
  for (const record of records) {
    const found = record.ruling === null ? await store.findPending(record.id, Date.now()) : record;
    fresh.push(found ?? record);
  }
  return fresh;
}

function isRuled(record: PendingRecord): record is Ruled {
  return record.ruling !== null;
}
