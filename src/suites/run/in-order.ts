import { yieldAfterLongWork } from '../../base/time/time-limit.ts';

/** Opens a source of items that ends early when its signal is aborted. */
type Source<Item> = (signal: AbortSignal) => AsyncIterable<Item>;

export interface InOrderOptions<Item, Result> {
  readonly source: Source<Item>;
  /** Called in the order of the source, for up to `window` items at once. */
  work(item: Item, signal: AbortSignal): Promise<Result>;
  /**
   * Gets each result in the order of the source, one at a time; false ends the run and aborts what is in
   * flight.
   */
  deliver(result: Result): Promise<boolean>;
  readonly window: number;
  readonly signal: AbortSignal;
}

/** How many results may wait for an earlier one before no new item is started. */
const MAX_RESULTS_AHEAD = 256;

/**
 * Works through a source of any length in constant memory, and hands on what comes of it in the order of the source.
 * The first failure of the source, of `work` or of `take` stops it all and is thrown once nothing is in flight.
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
    // One signal for all items would keep every removed listener reachable from the next one, so that
    // everything stayed in memory until a full collection.
    const own = new AbortController();
    running.add(own);
    try {
      results.put(position, { result: await work(item, own.signal) });
    } catch (error) {
      // An item that ends because it was aborted is no failure.
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
  /** Undefined stands for an item without a result. Never throws. */
  put(place: number, outcome: { readonly result: Result } | undefined): void;
  /** Resolves when every result that is ready has been delivered. */
  end(): Promise<void>;
}

/** Delivers results by position, from 0 without a gap, one after another; `take` must not reject. */
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
  /** Resolves when at least that many are free; one waiter at a time. */
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
