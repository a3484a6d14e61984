/** Which providers are left out for a while, because they fail time after time. */
export interface Breaker {
  /** Whether the provider is left out now. */
  isOpen(id: string): boolean;
  /** Counts a failure in a row; true when the provider is left out from now on. */
  fail(id: string): boolean;
  succeed(id: string): void;
}

/** Failures in a row after which a provider is left out. */
export const BREAKER_FAILURES = 3;
/** For how long, until a call tries it again. */
export const BREAKER_PAUSE_MS = 30_000;

export function createBreaker(now: () => number = () => performance.now()): Breaker {
  const failing = new Map<string, { readonly count: number; readonly until: number }>();
  return {
    isOpen: (id) => (failing.get(id)?.until ?? 0) > now(),
    fail: (id) => {
      const count = (failing.get(id)?.count ?? 0) + 1;
      const isOpened = count >= BREAKER_FAILURES;
      failing.set(id, { count, until: isOpened ? now() + BREAKER_PAUSE_MS : 0 });
      return isOpened;
    },
    succeed: (id) => void failing.delete(id),
  };
}

/** Leaves nobody out: where calls are recorded or replayed, the clock must not choose who is called. */
export const noBreaker: Breaker = { isOpen: () => false, fail: () => false, succeed: () => {} };
