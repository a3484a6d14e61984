/** Work that goes on by itself, and that somebody has to see the end of. */
export interface Work {
  add(work: Promise<unknown>): void;
  /** Resolves when none is left, what was added meanwhile included. Never rejects. */
  ended(): Promise<void>;
}

/** Keeps track of work that nobody awaits one by one. */
export function trackWork(): Work {
  const underway = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      const tracked = work.catch(() => {}).finally(() => underway.delete(tracked));
      underway.add(tracked);
    },
    ended: async () => {
      while (underway.size > 0) await Promise.all(underway);
    },
  };
}
