import { longestMs } from './async.ts';
import { STALL_MS, startTimer, type Timer } from './deadline.ts';

/** What a list can limit. */
export class Limit {
  /** By the clock of `performance.now()`. */
  dueAt = 0;
  previous: this | undefined;
  next: this | undefined;
  isRunning = false;
  timer: Timer | undefined;
}

/**
 * Equal limits on many things with one timer; they end in the order of their starts. As with `startTimer`, time during
 * which this process was stopped does not count.
 */
export class DeadlineList<Limited extends Limit> {
  readonly #limitMs: number;
  readonly #onEnd: (limited: Limited) => void;
  #first: Limited | undefined;
  #last: Limited | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onEnd: (limited: Limited) => void) {
    this.#limitMs = Math.min(limitMs, longestMs);
    this.#onEnd = onEnd;
  }

  /** Calls `onEnd` after the time unless the limit is cleared. Keeps Node alive. */
  start(limited: Limited): void {
    limited.dueAt = performance.now() + this.#limitMs;
    limited.isRunning = true;
    limited.previous = this.#last;
    if (this.#last === undefined) this.#first = limited;
    else this.#last.next = limited;
    this.#last = limited;
    if (this.#timer === undefined) this.#wait(this.#limitMs);
    else if (this.#first === limited) this.#timer.ref();
  }

  clear(limit: Limited): void {
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
      if (lateMs < STALL_MS) this.#onEnd(limit);
      else limit.timer = startTimer({ timeoutMs: Math.min(lateMs, this.#limitMs) }, () => this.#onEnd(limit));
    }
    if (this.#first !== undefined && this.#timer === undefined)
      this.#wait(Math.max(1, this.#first.dueAt - now));
  }

  #remove(limit: Limited): void {
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
