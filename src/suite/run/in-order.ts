import { catchUp } from '../../time/time-limit.ts';
/** Opens a source of items that ends early when its signal is aborted. */
export type Source<Item> = (signal: AbortSignal) => AsyncIterable<Item>;

export interface InOrder<Item, Result> {
  readonly source: Source<Item>;
  /** Called in the order of the source, for up to `window` items at once. */
  work(item: Item, signal: AbortSignal): Promise<Result>;
  /** Told each result in the order of the source, one at a time; false ends the run, and what is in flight is aborted. */
  take(result: Result): Promise<boolean>;
  readonly window: number;
  readonly signal: AbortSignal;
}

/** Results that wait for an earlier one; with more, nothing new is begun. */
const AHEAD = 256;

/**
 * Works through a source of any length in constant memory, and hands on what comes of it in the order of the source.
 * The first failure of the source, of `work` or of `take` stops it all and is thrown once nothing is in flight.
 */
export async function workInOrder<Item, Result>(options: InOrder<Item, Result>): Promise<void> {
  const { source, work, window, signal } = options;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    stop.abort();
  };
  const inWork = newSlots(window);
  const untaken = newSlots(window + AHEAD);
  const line = newLine<Result>(async (result) => {
    if (stopped.aborted) return;
    try {
      if (!(await options.take(result))) stop.abort();
    } catch (error) {
      fail(error);
    }
  }, untaken.give);
  const inHand = new Set<AbortController>();
  const abortAll = (): void => {
    for (const each of inHand) each.abort(stopped.reason);
  };
  stopped.addEventListener('abort', abortAll);
  const begin = async (item: Item, place: number): Promise<void> => {
    // One signal for all would be a list of listeners that lasts: what has left it still points to what came next, and
    // so everything would stay in memory until a full collection.
    const own = new AbortController();
    inHand.add(own);
    try {
      line.put(place, { result: await work(item, own.signal) });
    } catch (error) {
      // What ends because it was told to is no failure.
      if (!stopped.aborted) fail(error);
      line.put(place, undefined);
    } finally {
      inHand.delete(own);
      inWork.give();
    }
  };
  try {
    let place = 0;
    for await (const item of source(stopped)) {
      await catchUp();
      if (stopped.aborted) break;
      inWork.take();
      untaken.take();
      void begin(item, place);
      place += 1;
      await inWork.whenFree(1);
      await untaken.whenFree(1);
      if (stopped.aborted) break;
    }
  } catch (error) {
    if (!stopped.aborted) fail(error);
  }
  await inWork.whenFree(window);
  await line.end();
  stopped.removeEventListener('abort', abortAll);
  if (failures.length > 0) throw failures[0];
}

interface Line<Result> {
  /** Undefined stands for an item without a result. Never throws. */
  put(place: number, outcome: { readonly result: Result } | undefined): void;
  /** Settles when everything that could be handed on was. */
  end(): Promise<void>;
}

/** Hands results on by their places, from 0, without a gap, one after another; `take` must not reject. */
function newLine<Result>(take: (result: Result) => Promise<void>, left: () => void): Line<Result> {
  const waiting = new Map<number, { readonly result: Result } | undefined>();
  let next = 0;
  let isWalking = false;
  let walk = Promise.resolve();
  const goOn = async (): Promise<void> => {
    while (waiting.has(next)) {
      const outcome = waiting.get(next);
      waiting.delete(next);
      next += 1;
      if (outcome !== undefined) await take(outcome.result);
      left();
    }
    isWalking = false;
  };
  return {
    put(place, outcome) {
      waiting.set(place, outcome);
      if (isWalking) return;
      isWalking = true;
      walk = goOn();
    },
    async end() {
      while (isWalking) await walk;
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
