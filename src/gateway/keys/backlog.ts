import type { KeysDatabase } from '../../store/keys/keys-database.ts';

/** What has to be counted, and is kept until it could be. */
export interface Backlog {
  /** Counts now, or as soon as the database can be written again. Never rejects. */
  keep(work: () => void): Promise<void>;
  /** Tries what waits again. Never rejects. */
  flush(): Promise<void>;
  /** Rejects with STORE_FAILED while something waits: no call may begin that could not be counted. */
  requireEmpty(): Promise<void>;
}

/** Works that are done exactly once each. */
export function createBacklog(database: KeysDatabase): Backlog {
  const waiting = new Set<() => void>();
  let flushing: Promise<void> | undefined;
  const flush = async () => {
    const works = [...waiting];
    await database.change(() => {
      for (const work of works) work();
    });
    for (const work of works) waiting.delete(work);
  };
  const flushOnce = () => {
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  return {
    keep: async (work) => {
      try {
        await database.change(work);
      } catch {
        waiting.add(work);
      }
    },
    flush: async () => {
      if (waiting.size > 0) await flushOnce().catch(() => {});
    },
    requireEmpty: async () => {
      if (waiting.size > 0) await flushOnce();
    },
  };
}
