import { AsyncLocalStorage } from 'node:async_hooks';
import { currentFence, fenced } from './fence.ts';

/** How long work took, and how long it waited in queues, which is not included in `durationMs`. */
export interface Timing {
  readonly durationMs: number;
  readonly queueMs: number;
}

/** What hears of the queues of a piece of work, and of the slots that it holds. */
export interface QueueClock {
  /** A part of the work begins (1) or ends (-1) to wait for a slot, or to hold one. */
  change(part: 'waiting' | 'working', by: 1 | -1): void;
}

/** Measures a piece of work from now on. */
export interface Stopwatch extends QueueClock {
  /** Runs a part of the work; its time in queues is counted as queue time, wherever it enters one. */
  run<Result>(work: () => Result): Result;
  read(): Timing;
}

/** Starts a stopwatch; its queue times also count for the clock around it. */
export function startStopwatch(around: QueueClock | undefined = running.getStore()): Stopwatch {
  return new RunningStopwatch(around);
}

/** The stopwatch that runs around this code, if any. */
export function currentClock(): QueueClock | undefined {
  return running.getStore();
}

/** To the nearest millisecond. */
export function wholeMs({ durationMs, queueMs }: Timing): Timing {
  return { durationMs: Math.round(durationMs), queueMs: Math.round(queueMs) };
}

/** Runs work in a queue whose slot it occupies: its time in the queue counts as waiting. */
export async function inSlot<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  clock: QueueClock | undefined = running.getStore(),
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: true, clock });
}

/** Runs work in a queue that only orders it: it may then wait for slots of other queues. */
export async function inQueue<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: false, clock: running.getStore() });
}

/** Runs work that is not awaited, outside of any stopwatch and fence. */
export function unwatched<Result>(work: () => Result): Result {
  return running.run(undefined, () => fenced(undefined, work));
}

async function trackQueue<Result>(
  given: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  { isWork, clock }: { readonly isWork: boolean; readonly clock: QueueClock | undefined },
): Promise<Result> {
  // A queue starts work in the async context of the work before it.
  const fence = currentFence();
  const work = () => fenced(fence, given);
  if (clock === undefined) return await enqueue(() => running.run(undefined, work));
  clock.change('waiting', 1);
  let held: 'waiting' | 'working' | undefined = 'waiting';
  const pass = (next: 'waiting' | 'working' | undefined) => {
    if (next !== undefined) clock.change(next, 1);
    if (held !== undefined) clock.change(held, -1);
    held = next;
  };
  try {
    return await enqueue(async () => {
      pass(isWork ? 'working' : undefined);
      return await running.run(clock, work);
    });
  } finally {
    pass(undefined);
  }
}

const running = new AsyncLocalStorage<QueueClock | undefined>();

/** Time counts as queue time while at least one part of the work waits and none has a slot. */
class RunningStopwatch implements Stopwatch {
  readonly #around: QueueClock | undefined;
  readonly #startedAt = performance.now();
  #waiting = 0;
  #working = 0;
  #queueMs = 0;
  #queuedSince: number | undefined;

  constructor(around: QueueClock | undefined) {
    this.#around = around;
  }

  run<Result>(work: () => Result): Result {
    return running.run(this, work);
  }

  read(): Timing {
    const now = performance.now();
    const queueMs = this.#queueMs + (this.#queuedSince === undefined ? 0 : now - this.#queuedSince);
    return { durationMs: now - this.#startedAt - queueMs, queueMs };
  }

  change(part: 'waiting' | 'working', by: 1 | -1): void {
    if (part === 'waiting') this.#waiting += by;
    else this.#working += by;
    this.#update();
    this.#around?.change(part, by);
  }

  #update(): void {
    const isQueued = this.#waiting > 0 && this.#working === 0;
    if (isQueued === (this.#queuedSince !== undefined)) return;
    const now = performance.now();
    if (this.#queuedSince !== undefined) this.#queueMs += now - this.#queuedSince;
    this.#queuedSince = isQueued ? now : undefined;
  }
}
