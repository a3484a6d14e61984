import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { RuntimeError } from '../errors.ts';

/** A limit on one exchange. */
export interface Deadline {
  /** Rejects with the limit's `expiry`, by default PROCESS_TIMEOUT, or with ABORTED; never resolves. */
  readonly expired: Promise<never>;
  clear(): void;
}

/** What an exchange may take. */
export interface Limit {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What is said once the time is up, if not that there was no answer. */
  readonly expiry?: ((timeoutMs: number) => RuntimeError) | undefined;
}

/**
 * Starts a deadline that ends at `timeoutMs` or with the caller's signal, whichever comes first. Time for which this
 * process itself was stopped does not count, `timeoutMs` of it at most: the other may have answered meanwhile.
 */
export function startDeadline({ name, timeoutMs, signal, expiry }: Limit): Deadline {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  // Whoever lost the race has no listener any more, and that is no unhandled rejection.
  expired.catch(() => {});
  const onTimeout = () => reject(expiry?.(timeoutMs) ?? timeoutError(name, timeoutMs));
  const onAbort = () => reject(abortedError(name, signal));
  let timer: NodeJS.Timeout;
  const wait = (ms: number) => {
    const dueAt = performance.now() + ms;
    // A timer of the usual kind, since AbortSignal.timeout() does not keep Node alive.
    timer = setTimeout(() => {
      const awayMs = performance.now() - dueAt;
      if (awayMs < AWAY_MS) onTimeout();
      else wait(Math.min(awayMs, timeoutMs));
    }, ms);
  };
  wait(Math.min(timeoutMs, LONGEST_TIMER_MS));
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

function timeoutError(name: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`, {
    details: { timeout_ms: timeoutMs },
  });
}

/** The error of a call that its caller gave up. */
export function abortedError(name: string, signal: AbortSignal | undefined): RuntimeError {
  return new RuntimeError('ABORTED', `the call of "${name}" was aborted`, { cause: signal?.reason });
}

/** Waits, at most until the signal is aborted; keeps Node alive meanwhile. Never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeoutPromise(Math.min(ms, LONGEST_TIMER_MS), undefined, signal && { signal }).catch(() => {});
}

/** Whether the promise settled within `ms`. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.min(ms, LONGEST_TIMER_MS));
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/**
 * Waits, at most `ms`, for the end of the outputs of a process that has ended. A timer may be due because this
 * process was busy, with what the other wrote still unread: one more turn of the loop reads all that is there.
 */
export async function drain(outputs: Promise<unknown>, ms: number): Promise<void> {
  if (await settlesWithin(outputs, ms)) return;
  await new Promise((resolve) => setImmediate(resolve));
}

/** A timer that is as late as this says that nothing ran here: Ctrl-Z, SIGSTOP, a long computation. */
const AWAY_MS = 500;

/** A longer timer of Node's fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
