/** What has to be counted, and is kept until it could be. */
export interface Backlog {
  /** Counts now, or as soon as that can be done again. Never rejects. */
  keep(work: () => Promise<unknown>): Promise<void>;
  /** Tries what waits again. Never rejects. */
  flush(): Promise<void>;
  /** Rejects as the work does while some of it waits: no call may begin that could not be counted. */
  requireEmpty(): Promise<void>;
}

/** Works that are done until they succeed; one that rejects has done nothing, or may be done twice. */
export function createBacklog(): Backlog {
  const waiting = new Set<() => Promise<unknown>>();
  let flushing: Promise<void> | undefined;
  const tryAgain = async (work: () => Promise<unknown>) => {
    await work();
    waiting.delete(work);
  };
  const flushOnce = () => {
    flushing ??= flushAll().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  const flushAll = async () => {
    const tried = await Promise.allSettled([...waiting].map(tryAgain));
    const failed = tried.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  };
  return {
    keep: async (work) => {
      try {
        await work();
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
