import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import { type ChangeWaiter, openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import type { Store } from '../../store/store.ts';

interface DecisionWait {
  /** The record when it is decided, by any process; undefined: not within the time of the whole wait, or before it was given up. Throws STORE_FAILED. */
  until(record: PendingRecord): Promise<DecidedRecord | undefined>;
  close(): void;
}

/** Waits for decisions, all together for so long. */
export function openDecisionWait(
  store: Store,
  { holdMs, signal }: { readonly holdMs: number; readonly signal: AbortSignal },
): DecisionWait {
  // Not by the clock of the day, which may be set.
  const since = performance.now();
  let waiter: ChangeWaiter | undefined;
  return {
    until: async (record) => {
      let current = record;
      for (;;) {
        if (isDecided(current)) return current;
        const leftMs = holdMs - (performance.now() - since);
        // Given up, too, it is told with its question, which stays.
        if (leftMs <= 0 || signal.aborted) return undefined;
        if (waiter === undefined) {
          waiter = openChangeWaiter(store, signal);
          // What was decided before the watch began is seen now.
        } else {
          const due = Math.min(Date.now() + leftMs, current.expiresAt ?? Number.POSITIVE_INFINITY);
          await waiter.next(due).catch(unless(signal));
        }
        current = (await store.findPending(record.id, Date.now())) ?? current;
      }
    },
    close: () => waiter?.close(),
  };
}

function isDecided(record: PendingRecord): record is DecidedRecord {
  return record.ruling !== null;
}

/** Throws what is no end of the wait. */
function unless(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}
