import { RuntimeError } from '../../errors.ts';
import type { Store } from '../../store/store.ts';

/** Tells a run that waits when it is worth to look into its store again. */
export interface Lookout {
  /** Resolves after a change of the store, at `due` (ms since 1970), or after a while. Throws ABORTED. */
  next(due: number | undefined): Promise<void>;
  close(): void;
}

export interface LookoutOptions {
  /** How long nobody looks although nothing is told: what watches the store may miss something. */
  readonly idleMs?: number;
}

/** Watches a store from now on. Where it cannot be watched, looking every quarter of a second takes its place. */
export function openLookout(
  store: Pick<Store, 'watch'>,
  signal: AbortSignal,
  { idleMs = 10_000 }: LookoutOptions = {},
): Lookout {
  let hasChanged = false;
  let lookedAt = performance.now();
  const nap = newNap();
  const watch = store.watch(() => {
    hasChanged = true;
    nap.wake('change');
  });
  const giveUp = () => nap.wake('abort');
  signal.addEventListener('abort', giveUp);
  return {
    next: async (due = Number.POSITIVE_INFINITY) => {
      const idle = watch.isLive() ? idleMs : LOOK_EVERY_MS;
      if (!hasChanged && !signal.aborted)
        await nap.take(Math.min(idle, due - Date.now() + 1), ['change', 'abort']);
      // A store that others write to all the time is not read as often.
      const soonest = lookedAt + LOOK_EVERY_MS - performance.now();
      if (hasChanged && !signal.aborted) await nap.take(soonest, ['abort']);
      if (signal.aborted) throw new RuntimeError('ABORTED', 'the wait for a decision was given up');
      hasChanged = false;
      lookedAt = performance.now();
    },
    close: () => {
      signal.removeEventListener('abort', giveUp);
      watch.close();
    },
  };
}

const LOOK_EVERY_MS = 250;

type Reason = 'change' | 'abort';

/** A pause that can be cut short; it keeps the process alive. */
function newNap() {
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
