import { AsyncLocalStorage } from 'node:async_hooks';
import { currentFence, fenced } from './fence.ts';

/** `durationMs` does not include `queueMs`, the time in queues. */
export interface Timing {
  readonly durationMs: number;
  readonly queueMs: number;
}

/** `ownMs` is the time in which no part waited or worked. */
export interface TimingDetails extends Timing {
  readonly ownMs: number;
}

type Part = 'waiting' | 'working' | 'upstream';

export interface QueueClock {
  /** Reports that a part begins (1) or ends (-1) to wait for a slot, to hold one, or to wait for an upstream. `at` is the time, if it is known. */
  change(part: Part, by: 1 | -1, at?: number): void;
}

export interface Stopwatch extends QueueClock {
  /** Counts the time that the work spends in any queue as queue time. */
  run<Result>(work: () => Result): Result;
  read(): Timing;
}

export function startStopwatch(around: QueueClock | undefined = running.getStore()): Stopwatch {
  return new RunningStopwatch(around, false);
}

export function startDetailedStopwatch(): Stopwatch & { readDetails(): TimingDetails } {
  return new RunningStopwatch(running.getStore(), true);
}

export function currentClock(): QueueClock | undefined {
  return running.getStore();
}

export function wholeMs({ durationMs, queueMs }: Timing): Timing {
  return { durationMs: Math.round(durationMs), queueMs: Math.round(queueMs) };
}

/** Runs work in a queue that limits concurrency. The wait counts as queue time. */
export async function inSlot<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  clock: QueueClock | undefined = running.getStore(),
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: true, clock });
}

/** Runs work in a queue that only orders it, so that the work may wait for slots of other queues. */
export async function inQueue<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: false, clock: running.getStore() });
}

/** Runs work that is not awaited, outside any stopwatch and fence. */
export function unwatched<Result>(work: () => Result): Result {
  return running.run(undefined, () => fenced(undefined, work));
}

async function trackQueue<Result>(
  given: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  { isWork, clock }: { readonly isWork: boolean; readonly clock: QueueClock | undefined },
): Promise<Result> {
  // A queue starts work in the async context of the previous work.
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

/** Time counts as queue time while at least one part waits and none has a slot. */
class RunningStopwatch implements Stopwatch {
  readonly #around: QueueClock | undefined;
  readonly #isDetailed: boolean;
  readonly #startedAt = performance.now();
  readonly #parts = { waiting: 0, working: 0, upstream: 0 };
  #state: 'own' | 'queued' | 'busy' = 'own';
  #since = this.#startedAt;
  #ownMs = 0;
  #queueMs = 0;

  constructor(around: QueueClock | undefined, isDetailed: boolean) {
    this.#around = around;
    this.#isDetailed = isDetailed;
  }

  run<Result>(work: () => Result): Result {
    return running.run(this, work);
  }

  read(): Timing {
    const now = performance.now();
    const queueMs = this.#queueMs + (this.#state === 'queued' ? now - this.#since : 0);
    return { durationMs: now - this.#startedAt - queueMs, queueMs };
  }

  readDetails(): TimingDetails {
    const timing = this.read();
    const now = this.#startedAt + timing.durationMs + timing.queueMs;
    return { ...timing, ownMs: this.#ownMs + (this.#state === 'own' ? now - this.#since : 0) };
  }

  change(part: Part, by: 1 | -1, at?: number): void {
    this.#parts[part] += by;
    const { waiting, working, upstream } = this.#parts;
    let state: 'own' | 'queued' | 'busy' = this.#isDetailed && upstream + working > 0 ? 'busy' : 'own';
    if (waiting > 0 && working === 0) state = 'queued';
    this.#enter(state, at);
    this.#around?.change(part, by, at);
  }

  #enter(state: 'own' | 'queued' | 'busy', at?: number): void {
    if (state === this.#state) return;
    const now = at ?? performance.now();
    if (this.#state === 'own') this.#ownMs += now - this.#since;
    else if (this.#state === 'queued') this.#queueMs += now - this.#since;
    this.#state = state;
    this.#since = now;
  }
}
