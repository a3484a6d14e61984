import { RuntimeError } from '../../base/errors.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { Store } from '../../store/store.ts';
import { GIVEN_FOR_MS } from '../memo/kept-answers.ts';
import type { JudgeContext } from '../ports.ts';
import { isDecided } from './call-decisions.ts';
import type { CallWaiting } from './judge-calls.ts';
import { pendingRefusal } from './pending-refusal.ts';
import { endForgottenRuns, openPendingRun, type PendingRunOptions } from './pending-run.ts';

/** Tells when a store has changed. */
interface StoreWaiter {
  /** Resolves after a change of the store, at `due` (ms since 1970), or after a while. Throws ABORTED. */
  next(due: number | undefined): Promise<void>;
  close(): void;
}

export interface WaitingOptions extends PendingRunOptions {
  /** How long an answer is held for a person; 0: not at all. */
  readonly holdMs: number;
  readonly openWaiter: (store: Pick<Store, 'watch'>, signal: AbortSignal) => StoreWaiter;
}

/** The waiting calls of one answer. */
export interface AnswerWaiting {
  readonly runId: string;
  /** Keeps the answer itself, before any of its calls is. Resolves to the run that has the calls of the answer that is kept. */
  readonly keep: () => Promise<string>;
  readonly isRecalled: boolean;
}

/** Opens where the calls of an answer wait. Throws STORE_FAILED. */
export async function openCallWaiting(
  { runId, keep, isRecalled }: AnswerWaiting,
  context: JudgeContext,
  options: WaitingOptions,
): Promise<CallWaiting> {
  const run = openPendingRun(runId, options);
  // Of an answer that is new nothing is kept yet.
  const known = isRecalled ? await run.list() : [];
  let isKept = isRecalled;
  return {
    runId,
    records: known,
    decide: async (calls, tell) => {
      if (!isKept) {
        const keptAs = await keep();
        isKept = true;
        // An equal request was faster: its answer is the one that counts.
        if (keptAs !== runId) throw pendingRefusal(await openPendingRun(keptAs, options).list());
      }
      const records = await run.add(calls, context, tell);
      // Nobody waits for it, and what fails now is tried again with the next call that waits.
      void options
        .openStore()
        .then((store) => endForgottenRuns(store, Date.now() - GIVEN_FOR_MS), ignore)
        .catch(ignore);
      return records.every(isDecided) ? records : await hold(records, calls, { run, context, options });
    },
  };
}

const ignore = () => {};

interface Holding {
  readonly run: ReturnType<typeof openPendingRun>;
  readonly context: JudgeContext;
  readonly options: WaitingOptions;
}

/** Waits for decisions made in any process. Throws RefusedCall when the time is over, and what the signal was aborted with. */
async function hold(
  first: readonly PendingRecord[],
  calls: readonly PendingCall[],
  { run, context: { signal }, options: { openStore, holdMs, openWaiter } }: Holding,
): Promise<readonly PendingRecord[]> {
  if (holdMs <= 0) throw pendingRefusal(first);
  // Not by the clock of the day, which may be set.
  const since = performance.now();
  const ids = new Set(calls.map(({ id }) => id));
  const waiter = openWaiter(await openStore(), signal);
  try {
    for (;;) {
      const records = (await run.list()).filter(({ id }) => ids.has(id));
      if (records.length === ids.size && records.every(isDecided)) return records;
      const leftMs = holdMs - (performance.now() - since);
      if (leftMs <= 0) throw pendingRefusal(records);
      const expiries = records.flatMap(({ ruling, expiresAt }) =>
        ruling === null && expiresAt !== null ? [expiresAt] : [],
      );
      await waiter.next(Math.min(Date.now() + leftMs, ...expiries));
    }
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'ABORTED') signal.throwIfAborted();
    throw error;
  } finally {
    waiter.close();
  }
}
