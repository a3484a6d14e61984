import { RuntimeError } from '../errors.ts';

/** A limit on one exchange. */
export interface Deadline {
  /** Rejects with PROCESS_TIMEOUT or ABORTED; never resolves. */
  readonly expired: Promise<never>;
  clear(): void;
}

/** Starts a deadline that ends at `timeoutMs` or with the caller's signal, whichever comes first. */
export function startDeadline(name: string, timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  // Whoever lost the race has no listener any more, and that is no unhandled rejection.
  expired.catch(() => {});
  const onTimeout = () => {
    reject(new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`));
  };
  const onAbort = () => reject(abortedError(name, signal));
  // A timer of the usual kind, since AbortSignal.timeout() does not keep Node alive.
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, 2 ** 31 - 1));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    expired,
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** The error of a call that its caller gave up. */
export function abortedError(name: string, signal: AbortSignal | undefined): RuntimeError {
  return new RuntimeError('ABORTED', `the call of "${name}" was aborted`, { cause: signal?.reason });
}

/** Waits; keeps Node alive meanwhile. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether the promise settled within `ms`. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
