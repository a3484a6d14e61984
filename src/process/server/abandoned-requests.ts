/** Ids of requests that were abandoned unanswered, so that a late reply is recognised as such. */
export interface AbandonedRequests {
  /** Whether no abandoned request can still be answered. */
  readonly isEmpty: boolean;
  add(id: number): void;
  /** Removes the id; returns whether it was there. */
  take(id: number): boolean;
}

/**
 * Remembers the last `capacity` ids. An older one counts as unanswered for good, so that a reply without an
 * id is never taken for that of another request.
 */
export function createAbandonedRequests(capacity = 1000): AbandonedRequests {
  const ids = new Set<number>();
  let overflowed = false;
  return {
    get isEmpty() {
      return ids.size === 0 && !overflowed;
    },
    add: (id) => {
      ids.add(id);
      if (ids.size <= capacity) return;
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
      overflowed = true;
    },
    take: (id) => ids.delete(id),
  };
}
