import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { RuntimeError } from '../errors.ts';
import { longestMs, whenAborted } from './async.ts';

export interface Timer {
  remainingMs(): number;
  restart(timeoutMs?: number): void;
  pause(): void;
  resume(): void;
  clear(): void;
}

/**
 * Calls `onEnd` after `timeoutMs` or on abort. Time during which this process was stopped does not count, up to
 * `timeoutMs` in total, because an answer may have arrived meanwhile.
 */
export function startTimer(
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  onEnd: (cause: 'timeout' | 'abort') => void,
): Timer {
  let limitMs = Math.min(timeoutMs, longestMs);
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let leftMs = limitMs;
  /** Bounds all extensions together by `limitMs`, since a busy process could delay every timer. */
  let extendedMs = 0;
  const wait = (ms: number) => {
    dueAt = performance.now() + ms;
    // AbortSignal.timeout() does not keep Node alive.
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

export interface Deadline {
  /** Rejects with the result of `createError`, with PROCESS_TIMEOUT by default, or with ABORTED. Never resolves. */
  readonly expired: Promise<never>;
  setPaused(isPaused: boolean): void;
  clear(): void;
}

export interface DeadlineOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly createError?: ((timeoutMs: number) => RuntimeError) | undefined;
}

export function startDeadline({ name, timeoutMs, signal, createError }: DeadlineOptions): Deadline {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  // After a lost race nothing handles the rejection; it must not count as unhandled.
  expired.catch(() => {});
  const { clear, pause, resume } = startTimer({ timeoutMs, signal }, (cause) => {
    if (cause === 'abort') reject(abortedError(name, signal));
    else reject(createError?.(timeoutMs) ?? timeoutError(name, timeoutMs));
  });
  return { expired, setPaused: (isPaused) => (isPaused ? pause() : resume()), clear };
}

export function timeoutError(name: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`, {
    details: { timeout_ms: timeoutMs },
  });
}

export function abortedError(name: string, signal: AbortSignal | undefined): RuntimeError {
  return new RuntimeError('ABORTED', `the call of "${name}" was aborted`, { cause: signal?.reason });
}

/** Ends early on abort. Keeps Node alive. Never rejects. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeoutPromise(Math.min(ms, longestMs), undefined, signal && { signal }).catch(() => {});
}

/** Whether the promise resolves or rejects within `ms`. Never rejects. */
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
 * Waits at most `ms` for the outputs of an ended process. If this process was busy, output may be unread when the timer
 * fires; one more turn of the event loop reads it.
 */
export async function drain(outputs: Promise<unknown>, ms: number): Promise<void> {
  if (await waitForSettled(outputs, ms)) return;
  await new Promise((resolve) => setImmediate(resolve));
}

/** A timer this late means that this process was stopped or blocked: Ctrl-Z, SIGSTOP, a long computation. */
export const STALL_MS = 500;
