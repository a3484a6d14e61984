import { AsyncLocalStorage } from 'node:async_hooks';

/** How long a piece of work took, and how long it only waited for its turn among others, which is no part of that. */
export interface Took {
  readonly durationMs: number;
  readonly queueMs: number;
}

/** Measures a piece of work from now on. */
export interface Stopwatch {
  /** Does a part of the work; whatever it waits for in queues is known to the stopwatch. */
  run<Result>(work: () => Result): Result;
  read(): Took;
}

/** A stopwatch that those around this work, if any, hear of too. */
export function startStopwatch(): Stopwatch {
  const watch = newWatch(running.getStore());
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
export function wholeMs({ durationMs, queueMs }: Took): Took {
  return { durationMs: Math.round(durationMs), queueMs: Math.round(queueMs) };
}

/** Work that takes a slot of a queue: until then it waits. */
export async function inSlot<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await inTurn(work, enqueue, { isWork: true });
}

/** Work that has to wait for its turn, and may take slots of other queues then. */
export async function inLine<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  return await inTurn(work, enqueue, { isWork: false });
}

/** Work that nobody waits for: no stopwatch hears of it. */
export function unwatched<Result>(work: () => Result): Result {
  return running.run(undefined, work);
}

async function inTurn<Result>(
  work: () => Promise<Result>,
  enqueue: (work: () => Promise<Result>) => Promise<Result>,
  { isWork }: { readonly isWork: boolean },
): Promise<Result> {
  const watch = running.getStore();
  if (watch === undefined) return await enqueue(() => unwatched(work));
  watch.change('waiting', 1);
  let held: Held | undefined = 'waiting';
  const pass = (next: Held | undefined) => {
    if (next !== undefined) watch.change(next, 1);
    if (held !== undefined) watch.change(held, -1);
    held = next;
  };
  try {
    return await enqueue(async () => {
      pass(isWork ? 'working' : undefined);
      // A queue begins work in the context of whoever has left it.
      return await running.run(watch, work);
    });
  } finally {
    pass(undefined);
  }
}

type Held = 'waiting' | 'working';

interface Watch {
  change(held: Held, by: 1 | -1): void;
  queueMs(): number;
}

const running = new AsyncLocalStorage<Watch | undefined>();

/** Time counts as waiting while a part of the work waits and none has a slot: what others wait for meanwhile costs nothing. */
function newWatch(parent: Watch | undefined): Watch {
  const parts = { waiting: 0, working: 0 };
  let total = 0;
  let since: number | undefined;
  const settle = () => {
    const now = performance.now();
    if (since !== undefined) total += now - since;
    since = parts.waiting > 0 && parts.working === 0 ? now : undefined;
  };
  return {
    change(held, by) {
      parts[held] += by;
      settle();
      parent?.change(held, by);
    },
    queueMs() {
      settle();
      return total;
    },
  };
}
