import { longestMs } from './async.ts';
import { STALL_MS, startTimer, type Timer } from './deadline.ts';

/** A limit that runs. */
export interface Limit {
  /** By the clock of `performance.now()`. */
  readonly dueAt: number;
  readonly onEnd: () => void;
  previous: Limit | undefined;
  next: Limit | undefined;
  isRunning: boolean;
  /** A timer of its own, for what is left after this process was stopped. */
  timer: Timer | undefined;
}

/**
 * Limits of one length on many things at once, with one timer for all: they end in the order in which they began. As
 * with `startTimer`, time for which this process itself was stopped does not count.
 */
export class DeadlineList {
  readonly #limitMs: number;
  #first: Limit | undefined;
  #last: Limit | undefined;
  /** Is due no later than the first limit. */
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = Math.min(limitMs, longestMs);
  }

  /** Calls `onEnd` when the time is over, unless the limit is cleared before. Keeps Node alive meanwhile. */
  start(onEnd: () => void): Limit {
    const dueAt = performance.now() + this.#limitMs;
    const limit: Limit = {
      dueAt,
      onEnd,
      previous: this.#last,
      next: undefined,
      isRunning: true,
      timer: undefined,
    };
    if (this.#last === undefined) this.#first = limit;
    else this.#last.next = limit;
    this.#last = limit;
    if (this.#timer === undefined) this.#wait(this.#limitMs);
    else if (this.#first === limit) this.#timer.ref();
    return limit;
  }

  /** Stops a limit; one that is over already is left as it is. */
  clear(limit: Limit): void {
    limit.timer?.clear();
    if (!limit.isRunning) return;
    this.#remove(limit);
    if (this.#first === undefined) this.#timer?.unref();
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#endDue(), ms);
  }

  #endDue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let limit = this.#first; limit !== undefined && limit.dueAt <= now; limit = this.#first) {
      this.#remove(limit);
      const lateMs = now - limit.dueAt;
      if (lateMs < STALL_MS) limit.onEnd();
      else limit.timer = startTimer({ timeoutMs: Math.min(lateMs, this.#limitMs) }, limit.onEnd);
    }
    if (this.#first !== undefined && this.#timer === undefined)
      this.#wait(Math.max(1, this.#first.dueAt - now));
  }

  #remove(limit: Limit): void {
    const { previous, next } = limit;
    limit.isRunning = false;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    limit.previous = undefined;
    limit.next = undefined;
  }
}
