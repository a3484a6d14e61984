import { longestMs } from './async.ts';
import { STALL_MS, startTimer, type Timer } from './deadline.ts';

export interface Limit {
  /** By the clock of `performance.now()`. */
  readonly dueAt: number;
  readonly onEnd: () => void;
  previous: Limit | undefined;
  next: Limit | undefined;
  isRunning: boolean;
  timer: Timer | undefined;
}

/**
 * Equal limits on many things with one timer; they end in the order of their starts. As with `startTimer`, time during
 * which this process was stopped does not count.
 */
export class DeadlineList {
  readonly #limitMs: number;
  #first: Limit | undefined;
  #last: Limit | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = Math.min(limitMs, longestMs);
  }

  /** Calls `onEnd` after the time unless the limit is cleared. Keeps Node alive. */
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
