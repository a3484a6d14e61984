import { RuntimeError } from '../../base/errors.ts';
import type { Store } from '../../store/store.ts';

export interface ChangeWaiter {
  /** Resolves after a change of the store, at `due` (ms since 1970), or after a growing delay. Throws ABORTED. */
  next(due: number | undefined): Promise<void>;
  close(): void;
}

export interface ChangeWaiterOptions {
  /** The longest time between two reads without a change, since a watcher may miss one. Default: 10 s. */
  readonly idleMs?: number;
  /** The time between two reads of a store that cannot be watched. Default: 250 ms. */
  readonly pollMs?: number;
}

export function openChangeWaiter(
  store: Pick<Store, 'watch'>,
  signal: AbortSignal,
  { idleMs = 10_000, pollMs = SOONEST_MS }: ChangeWaiterOptions = {},
): ChangeWaiter {
  let hasChanged = false;
  // SQLite reports a write before it is readable, since it syncs its journal in between.
  let lookAgainMs = Number.POSITIVE_INFINITY;
  let lastReadAt = performance.now();
  const sleeper = createSleeper();
  const watch = store.watch(() => {
    hasChanged = true;
    sleeper.wake('change');
  });
  const untilSoonest = () => lastReadAt + SOONEST_MS - performance.now();
  const onAbort = () => sleeper.wake('abort');
  signal.addEventListener('abort', onAbort);
  return {
    next: async (due = Number.POSITIVE_INFINITY) => {
      const idle = watch.isLive() ? Math.min(lookAgainMs, idleMs) : pollMs;
      const untilDue = due - Date.now() + 1;
      // The store's clock may be behind this one.
      const pause = untilDue > 0 ? Math.min(idle, untilDue) : untilSoonest();
      if (!hasChanged && !signal.aborted) await sleeper.take(pause, ['change', 'abort']);
      if (hasChanged && !signal.aborted) await sleeper.take(untilSoonest(), ['abort']);
      if (signal.aborted) throw new RuntimeError('ABORTED', 'the wait for a change was cancelled');
      lookAgainMs = hasChanged ? SOONEST_MS : 2 * lookAgainMs;
      hasChanged = false;
      lastReadAt = performance.now();
    },
    close: () => {
      signal.removeEventListener('abort', onAbort);
      watch.close();
    },
  };
}

const SOONEST_MS = 250;

type Reason = 'change' | 'abort';

/** The pause can be interrupted and keeps the process alive. */
function createSleeper() {
  let end: (reason: Reason) => void = () => {};
  return {
    wake: (reason: Reason) => end(reason),
    take: async (ms: number, reasons: readonly Reason[]) => {
      if (ms <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = (reason) => {
          if (!reasons.includes(reason)) return;
          clearTimeout(timer);
          resolve();
        };
      });
      end = () => {};
    },
  };
}
