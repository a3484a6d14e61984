/** Requests that were given up unanswered: the late reply of one is no surprise. */
export interface Forgotten {
  /** Whether none of them can still be answered. */
  readonly isEmpty: boolean;
  add(id: number): void;
  /** Whether the id was among them; it is not any more. */
  take(id: number): boolean;
}

/**
 * Remembers the last `capacity` ids. An older one counts as unanswered for good, so that a reply without an
 * id is never taken for that of another request.
 */
export function createForgotten(capacity = 1000): Forgotten {
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
