import { ShortLivedMap } from '../short-lived.ts';

/** Returns a function that unregisters. All callers share one listener, since Node removes listeners linearly. */
export function whenAborted(signal: AbortSignal, onAbort: () => void): () => void {
  const waiting = waitingOn.get(signal) ?? listenTo(signal);
  const entry = {};
  waiting.entries.set(entry, onAbort);
  return () => {
    if (!waiting.entries.delete(entry) || waiting.entries.size > 0) return;
    waitingOn.delete(signal);
    signal.removeEventListener('abort', waiting.listener);
  };
}

interface Waiting {
  readonly entries: ShortLivedMap<object, () => void>;
  readonly listener: () => void;
}

const waitingOn = new WeakMap<AbortSignal, Waiting>();

function listenTo(signal: AbortSignal): Waiting {
  const entries: Waiting['entries'] = new ShortLivedMap();
  const listener = () => {
    waitingOn.delete(signal);
    // Iterate the live set: a callback may unregister a later one.
    for (const entry of entries.keys()) {
      const onAbort = entries.get(entry);
      entries.delete(entry);
      onAbort?.();
    }
  };
  const waiting = { entries, listener };
  // Throws for an object that only looks like a signal, which must not count as heard.
  signal.addEventListener('abort', listener, { once: true });
  waitingOn.set(signal, waiting);
  return waiting;
}

export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => void whenAborted(signal, resolve));
}

export interface Once<Value> {
  /** Creates the value or returns the existing one. Rejects if the creation fails; the next call tries again. */
  open(): Promise<Value>;
  /** Resolves to the value after a started creation ends; undefined without a value. Never rejects. */
  opened(): Promise<Value | undefined>;
  /** Wraps a method of the value, which is created on the first call. */
  method<Given extends unknown[], Result>(
    pick: (value: Value) => (...given: Given) => Result | PromiseLike<Result>,
  ): (...given: Given) => Promise<Result>;
}

export function once<Value>(load: () => Promise<Value>): Once<Value> {
  let opening: Promise<Value> | undefined;
  const open = () => {
    opening ??= load().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    open,
    opened: async () => await opening?.catch(() => undefined),
    method:
      (pick) =>
      async (...given) =>
        await pick(await open())(...given),
  };
}

/** Callers while a read is in progress get its result. */
export function shareReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let underway: Promise<Value> | undefined;
  return async () => {
    underway ??= read().finally(() => {
      underway = undefined;
    });
    return await underway;
  };
}

export interface Slots {
  /** Undefined if a slot is free, else a promise of one. */
  take(): Promise<void> | undefined;
  release(): void;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    take: () => {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free -= 1;
      return undefined;
    },
    release: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

interface Work {
  add(work: Promise<unknown>): void;
  /** Resolves when no work is left, including work added meanwhile. Never rejects. */
  ended(): Promise<void>;
}

export function trackWork(): Work {
  const underway = new ShortLivedMap<Promise<unknown>, null>();
  return {
    add: (work) => {
      const tracked = work.catch(() => {}).finally(() => underway.delete(tracked));
      underway.set(tracked, null);
    },
    ended: async () => {
      while (underway.size > 0) await Promise.all(underway.keys());
    },
  };
}

/** The longest delay of a timer: 2^31 - 1 milliseconds. */
export const longestMs = 2_147_483_647;
