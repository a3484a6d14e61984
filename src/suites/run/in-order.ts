import { yieldAfterLongWork } from '../../base/time/time-limit.ts';

type Source<Item> = (signal: AbortSignal) => AsyncIterable<Item>;

export interface InOrderOptions<Item, Result> {
  readonly source: Source<Item>;
  work(item: Item, signal: AbortSignal): Promise<Result>;
  /** Receives each result in source order, one at a time. Returning false ends the run and aborts items in flight. */
  deliver(result: Result): Promise<boolean>;
  readonly window: number;
  readonly signal: AbortSignal;
}

/** No new item starts while this many results wait for an earlier one. */
const MAX_RESULTS_AHEAD = 256;

/**
 * Processes a source of any length in constant memory and delivers results in source order. The first error of the
 * source, `work` or `deliver` stops everything and is thrown after all items in flight have ended.
 */
export async function workInOrder<Item, Result>(options: InOrderOptions<Item, Result>): Promise<void> {
  const { source, work, window, signal } = options;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    stop.abort();
  };
  const workSlots = newSlots(window);
  const resultSlots = newSlots(window + MAX_RESULTS_AHEAD);
  const results = newResultQueue<Result>(async (result) => {
    if (stopped.aborted) return;
    try {
      if (!(await options.deliver(result))) stop.abort();
    } catch (error) {
      fail(error);
    }
  }, resultSlots.give);
  const running = new Set<AbortController>();
  const abortAll = (): void => {
    for (const each of running) each.abort(stopped.reason);
  };
  stopped.addEventListener('abort', abortAll);
  const begin = async (item: Item, position: number): Promise<void> => {
    // With one shared signal, removed listeners would stay reachable from later ones and memory would grow until a full
    // garbage collection.
    const own = new AbortController();
    running.add(own);
    try {
      results.put(position, { result: await work(item, own.signal) });
    } catch (error) {
      if (!stopped.aborted) fail(error);
      results.put(position, undefined);
    } finally {
      running.delete(own);
      workSlots.give();
    }
  };
  try {
    let position = 0;
    for await (const item of source(stopped)) {
      await yieldAfterLongWork();
      if (stopped.aborted) break;
      workSlots.take();
      resultSlots.take();
      void begin(item, position);
      position += 1;
      await workSlots.whenFree(1);
      await resultSlots.whenFree(1);
      if (stopped.aborted) break;
    }
  } catch (error) {
    if (!stopped.aborted) fail(error);
  }
  await workSlots.whenFree(window);
  await results.end();
  stopped.removeEventListener('abort', abortAll);
  if (failures.length > 0) throw failures[0];
}

interface ResultQueue<Result> {
  put(place: number, outcome: { readonly result: Result } | undefined): void;
  end(): Promise<void>;
}

function newResultQueue<Result>(
  take: (result: Result) => Promise<void>,
  onDelivered: () => void,
): ResultQueue<Result> {
  const waiting = new Map<number, { readonly result: Result } | undefined>();
  let next = 0;
  let isDelivering = false;
  let delivery = Promise.resolve();
  const deliverReady = async (): Promise<void> => {
    while (waiting.has(next)) {
      const outcome = waiting.get(next);
      waiting.delete(next);
      next += 1;
      if (outcome !== undefined) await take(outcome.result);
      onDelivered();
    }
    isDelivering = false;
  };
  return {
    put(place, outcome) {
      waiting.set(place, outcome);
      if (isDelivering) return;
      isDelivering = true;
      delivery = deliverReady();
    },
    async end() {
      while (isDelivering) await delivery;
    },
  };
}

interface Slots {
  take(): void;
  give(): void;
  /** Resolves when at least `wanted` places are free. Only one caller may wait at a time. */
  whenFree(wanted: number): Promise<void>;
}

function newSlots(size: number): Slots {
  let free = size;
  let wake: () => void = () => {};
  return {
    take() {
      free -= 1;
    },
    give() {
      free += 1;
      wake();
    },
    async whenFree(wanted) {
      while (free < wanted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
