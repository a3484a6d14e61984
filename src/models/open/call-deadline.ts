import { RuntimeError } from '../../base/errors.ts';
import { abortedError, startTimer } from '../../base/time/deadline.ts';

/** The time limit of one call. Its signal is aborted, with a RuntimeError as its reason, when the time is up. */
export interface CallDeadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** Restarts the timer with the idle limit of a stream. */
  restart(): void;
  pause(): void;
  race<T>(work: PromiseLike<T>): Promise<T>;
  end(): void;
}

/** Aborts with PROVIDER_TIMEOUT after `timeoutMs`, after `idleMs` once restarted, or with the caller (ABORTED). */
export function startCallDeadline(
  id: string,
  timeoutMs: number,
  caller: AbortSignal | undefined,
  idleMs = timeoutMs,
): CallDeadline {
  let limitMs = timeoutMs;
  const controller = new AbortController();
  const { signal } = controller;
  const { remainingMs, restart, pause, clear } = startTimer({ timeoutMs, signal: caller }, (cause) =>
    controller.abort(cause === 'abort' ? abortedError(id, caller) : timeoutError(id, limitMs)),
  );
  return {
    signal,
    remainingMs,
    restart: () => {
      limitMs = idleMs;
      restart(idleMs);
    },
    pause,
    race: (work) => raceAgainst(signal, work),
    end: () => {
      clear();
      controller.abort(abortedError(id, undefined));
    },
  };
}

function timeoutError(id: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROVIDER_TIMEOUT', `provider "${id}" did not answer within ${timeoutMs} ms`, {
    details: { timeout_ms: timeoutMs },
  });
}

function raceAgainst<T>(signal: AbortSignal, work: PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    // Prevents an unhandled rejection if the loser rejects later.
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (thrown: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(thrown);
      },
    );
  });
}
