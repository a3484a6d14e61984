import { AsyncLocalStorage } from 'node:async_hooks';

/** How long work took, and how long it waited in queues, which is not included in `durationMs`. */
export interface Timing {
  readonly durationMs: number;
  readonly queueMs: number;
}

/** Measures a piece of work from now on. */
export interface Stopwatch {
  /** Runs a part of the work; its time in queues is counted as queue time. */
  run<Result>(work: () => Result): Result;
  read(): Timing;
}

/** Starts a stopwatch; its queue times also count for the stopwatches around it. */
export function startStopwatch(): Stopwatch {
  const watch = createWatch(running.getStore());
  const startedAt = performance.now();
  return {
    run: (work) => running.run(watch, work),
    read: () => {
      const queueMs = watch.queueMs();
      return { durationMs: performance.now() - startedAt - queueMs, queueMs };
    },
  };
}

/** To the nearest millisecond. */
export function wholeMs({ durationMs, queueMs }: Timing): Timing {
  return { durationMs: Math.round(durationMs), queueMs: Math.round(queueMs) };
}

/** Runs work in a queue whose slot it occupies: its time in the queue counts as waiting. */
export async function inSlot<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: true });
}

/** Runs work in a queue that only orders it: it may then wait for slots of other queues. */
export async function inQueue<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await trackQueue(work, enqueue, { isWork: false });
}

/** Runs work that is not awaited, outside of any stopwatch. */
export function unwatched<Result>(work: () => Result): Result {
  return running.run(undefined, work);
}

async function trackQueue<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  { isWork }: { readonly isWork: boolean },
): Promise<Result> {
  const watch = running.getStore();
  if (watch === undefined) return await enqueue(() => unwatched(work));
  watch.change('waiting', 1);
  let held: PartState | undefined = 'waiting';
  const pass = (next: PartState | undefined) => {
    if (next !== undefined) watch.change(next, 1);
    if (held !== undefined) watch.change(held, -1);
    held = next;
  };
  try {
    return await enqueue(async () => {
      pass(isWork ? 'working' : undefined);
      // A queue starts work in the async context of the work before it.
      return await running.run(watch, work);
    });
  } finally {
    pass(undefined);
  }
}

type PartState = 'waiting' | 'working';

interface Watch {
  change(held: PartState, by: 1 | -1): void;
  queueMs(): number;
}

const running = new AsyncLocalStorage<Watch | undefined>();

/** Time counts as queue time while at least one part of the work waits and none has a slot. */
function createWatch(parent: Watch | undefined): Watch {
  const parts = { waiting: 0, working: 0 };
  let total = 0;
  let since: number | undefined;
  const update = () => {
    const now = performance.now();
    if (since !== undefined) total += now - since;
    since = parts.waiting > 0 && parts.working === 0 ? now : undefined;
  };
  return {
    change(held, by) {
      parts[held] += by;
      update();
      parent?.change(held, by);
    },
    queueMs() {
      update();
      return total;
    },
  };
}
