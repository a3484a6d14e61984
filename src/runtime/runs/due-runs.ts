import type { Store } from '../../store/store.ts';
import type { WorkedRun } from '../worker/api.ts';

/** What is to be gone on with in a store of one machine. */
export interface DueRunList {
  /** The ids of runs that are due and that nobody executes, the oldest first; and when the next one is due, ms since 1970. Throws STORE_FAILED. */
  find(
    isActive: (id: string) => boolean,
  ): Promise<{ readonly ready: string[]; readonly nextAt: number | undefined }>;
  /** What has become of one, undefined: somebody else has it. What could not be gone on with is left alone for a while. */
  note(id: string, run: WorkedRun | undefined): void;
}

export function createDueRuns(store: Store): DueRunList {
  /** Until when runs are left alone, as `performance.now()` has it. */
  const aside = new Map<string, number>();
  return {
    find: async (isActive) => {
      const { runs, nextAt } = await store.listDue({ at: Date.now() });
      const now = performance.now();
      for (const [id, until] of aside) if (until <= now) aside.delete(id);
      const ours = runs.filter(({ id }) => !isActive(id) && !aside.has(id));
      // Only the claim of a run tells whether somebody executes it.
      const claimed = ours.some(({ why }) => why === 'running') ? await store.listClaimed() : none;
      return { ready: ours.flatMap(({ id }) => (claimed.has(id) ? [] : [id])), nextAt };
    },
    note: (id, run) => {
      const refusedMs = run?.error?.code === 'STORE_FAILED' ? FAULT_MS : REFUSED_MS;
      aside.set(id, performance.now() + (run?.status === 'left' ? refusedMs : AGAIN_MS));
    },
  };
}

const none: ReadonlySet<string> = new Set();
/** Whoever has claimed a run says a moment later that it is running; and nothing that is due at once again keeps this process busy. */
const AGAIN_MS = 500;
const FAULT_MS = 5_000;
/** What cannot be read, or is of another config, stays so for long. */
const REFUSED_MS = 60_000;
