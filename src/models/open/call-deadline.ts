import { RuntimeError } from '../../base/errors.ts';
import { abortedError, startTimer } from '../../base/time/deadline.ts';

/** The time limit of one call. Its signal is aborted, with a RuntimeError as its reason, when the time is up. */
export interface CallDeadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** Starts the time anew: that of the silence of a stream. */
  restart(): void;
  pause(): void;
  /** What `work` gives, or the signal's reason if that comes first. */
  race<T>(work: PromiseLike<T>): Promise<T>;
  /** Ends the call: stops the timer and aborts the signal. */
  end(): void;
}

/** Starts the time of a call of provider `id`: PROVIDER_TIMEOUT after `timeoutMs`, or `idleMs` once it was started anew; ABORTED with the caller's signal. */
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
      // Closes what is still open, such as a connection.
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
    // A loser that rejects later is no unhandled rejection: this promise has settled already.
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
