import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { RuntimeError } from '../errors.ts';
import { longestMs, whenAborted } from './async.ts';

/** A time that runs out. */
export interface Timer {
  /** Milliseconds until it is over. */
  remainingMs(): number;
  /** Starts the whole time anew, or another one. */
  restart(timeoutMs?: number): void;
  /** Stops the time, until `resume` goes on with what is left of it. */
  pause(): void;
  resume(): void;
  /** Stops the time and forgets the signal. */
  clear(): void;
}

/**
 * Calls `onEnd` when `timeoutMs` are over, or when the signal is aborted. Time for which this process itself was stopped
 * does not count, up to `timeoutMs` altogether: an answer may have arrived meanwhile.
 */
export function startTimer(
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  onEnd: (cause: 'timeout' | 'abort') => void,
): Timer {
  let limitMs = Math.min(timeoutMs, longestMs);
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let leftMs = limitMs;
  /** Who keeps this process busy could stall every timer: all stalls together are worth `limitMs`. */
  let extendedMs = 0;
  const wait = (ms: number) => {
    dueAt = performance.now() + ms;
    // A timer of the usual kind, since AbortSignal.timeout() does not keep Node alive.
    timer = setTimeout(() => {
      const lateMs = performance.now() - dueAt;
      const extraMs = Math.min(lateMs, limitMs - extendedMs);
      if (lateMs < STALL_MS || extraMs <= 0) onEnd('timeout');
      else {
        extendedMs += extraMs;
        wait(extraMs);
      }
    }, ms);
  };
  const remainingMs = () => dueAt - performance.now();
  const onAbort = () => onEnd('abort');
  wait(limitMs);
  if (signal?.aborted) onAbort();
  const forgetSignal = signal === undefined || signal.aborted ? undefined : whenAborted(signal, onAbort);
  return {
    remainingMs,
    restart: (ms = limitMs) => {
      clearTimeout(timer);
      limitMs = Math.min(ms, longestMs);
      extendedMs = 0;
      wait(limitMs);
    },
    pause: () => {
      clearTimeout(timer);
      leftMs = Math.max(0, remainingMs());
    },
    resume: () => wait(leftMs),
    clear: () => {
      clearTimeout(timer);
      forgetSignal?.();
    },
  };
}

/** A limit on one exchange. */
export interface Deadline {
  /** Rejects with what `createError` gives, by default PROCESS_TIMEOUT, or with ABORTED; never resolves. */
  readonly expired: Promise<never>;
  /** Whether the time stands still. */
  setPaused(isPaused: boolean): void;
  clear(): void;
}

/** How long an exchange may take, and how its error is made. */
export interface DeadlineOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes the error for an expired limit; default: PROCESS_TIMEOUT, no answer in time. */
  readonly createError?: ((timeoutMs: number) => RuntimeError) | undefined;
}

/** Starts a deadline that ends at `timeoutMs` or with the caller's signal, whichever comes first. */
export function startDeadline({ name, timeoutMs, signal, createError }: DeadlineOptions): Deadline {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  // The loser of a race has no listener any more; its rejection must not count as unhandled.
  expired.catch(() => {});
  const { clear, pause, resume } = startTimer({ timeoutMs, signal }, (cause) => {
    if (cause === 'abort') reject(abortedError(name, signal));
    else reject(createError?.(timeoutMs) ?? timeoutError(name, timeoutMs));
  });
  return { expired, setPaused: (isPaused) => (isPaused ? pause() : resume()), clear };
}

/** PROCESS_TIMEOUT, for an exchange that took longer than its limit. */
export function timeoutError(name: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`, {
    details: { timeout_ms: timeoutMs },
  });
}

/** ABORTED, for a call that its caller cancelled. */
export function abortedError(name: string, signal: AbortSignal | undefined): RuntimeError {
  return new RuntimeError('ABORTED', `the call of "${name}" was aborted`, { cause: signal?.reason });
}

/** Waits, at most until the signal is aborted; keeps Node alive meanwhile. Never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeoutPromise(Math.min(ms, longestMs), undefined, signal && { signal }).catch(() => {});
}

/** Whether the promise settles within `ms`, by resolving or rejecting. Never rejects. */
export function waitForSettled(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.min(ms, longestMs));
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/**
 * Waits, at most `ms`, for the end of the outputs of a process that has ended. If the timer was due because
 * this process was busy, output may be unread still: one more turn of the event loop reads it.
 */
export async function drain(outputs: Promise<unknown>, ms: number): Promise<void> {
  if (await waitForSettled(outputs, ms)) return;
  await new Promise((resolve) => setImmediate(resolve));
}

/** A timer this late means that this process did not run: Ctrl-Z, SIGSTOP, a long computation. */
export const STALL_MS = 500;
