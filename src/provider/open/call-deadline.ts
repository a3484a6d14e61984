import { RuntimeError } from '../../errors.ts';
import { abortedError } from '../../transport/deadline.ts';

/**
 * The time limit of one call. Its signal is aborted, with a RuntimeError as its reason, when the time is up.
 */
export interface CallDeadline {
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  remainingMs(): number;
  /** Starts the time anew. */
  restart(): void;
  /** Stops the time; the caller's own signal still counts. */
  pause(): void;
  /** What `work` gives, or the signal's reason if that comes first. */
  race<T>(work: PromiseLike<T>): Promise<T>;
  /** Ends the call: stops the timer and aborts the signal. */
  end(): void;
}

/** Starts the time of a call of provider `id`: PROVIDER_TIMEOUT after `timeoutMs`, ABORTED with the caller's signal. */
export function startCallDeadline(
  id: string,
  timeoutMs: number,
  caller: AbortSignal | undefined,
): CallDeadline {
  const controller = new AbortController();
  const { signal } = controller;
  const limitMs = Math.min(timeoutMs, MAX_TIMER_MS);
  let timer: NodeJS.Timeout | undefined;
  let startedAt = 0;
  const abort = () => controller.abort(abortedError(id, caller));
  const pause = () => clearTimeout(timer);
  const restart = () => {
    pause();
    startedAt = performance.now();
    timer = setTimeout(() => controller.abort(timeoutError(id, timeoutMs)), limitMs);
  };
  restart();
  if (caller?.aborted) abort();
  else caller?.addEventListener('abort', abort, { once: true });
  return {
    signal,
    remainingMs: () => limitMs - (performance.now() - startedAt),
    restart,
    pause,
    race: (work) => raceAgainst(signal, work),
    end: () => {
      pause();
      caller?.removeEventListener('abort', abort);
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

/** A longer timer of Node's fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
