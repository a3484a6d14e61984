/**
 * Calls back once the signal is aborted; the returned function stops that. However many wait on one signal, it has one
 * listener: Node searches all listeners to take one away.
 */
export function whenAborted(signal: AbortSignal, onAbort: () => void): () => void {
  const waiting = waitingOn.get(signal) ?? listenTo(signal);
  const entry = { onAbort };
  waiting.entries.add(entry);
  return () => {
    if (!waiting.entries.delete(entry) || waiting.entries.size > 0) return;
    waitingOn.delete(signal);
    signal.removeEventListener('abort', waiting.listener);
  };
}

interface Waiting {
  readonly entries: Set<{ readonly onAbort: () => void }>;
  readonly listener: () => void;
}

const waitingOn = new WeakMap<AbortSignal, Waiting>();

function listenTo(signal: AbortSignal): Waiting {
  const entries: Waiting['entries'] = new Set();
  const listener = () => {
    waitingOn.delete(signal);
    // Not a copy: what an earlier one stops is not called.
    for (const entry of entries) {
      entries.delete(entry);
      entry.onAbort();
    }
  };
  const waiting = { entries, listener };
  waitingOn.set(signal, waiting);
  signal.addEventListener('abort', listener, { once: true });
  return waiting;
}

/** Resolves with the work, or after so many ms. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** Resolves when the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => void whenAborted(signal, resolve));
}

/** Something that is made when it is first needed, and then kept. */
export interface Once<Value> {
  /** Makes it, or gives what was made. Rejects as the making does; a failure is not remembered. */
  open(): Promise<Value>;
  /** What was made, once its making has ended; undefined where nothing was. Never rejects. */
  opened(): Promise<Value | undefined>;
  /** A method of it, which makes it first. */
  method<Given extends unknown[], Result>(
    pick: (value: Value) => (...given: Given) => Result | PromiseLike<Result>,
  ): (...given: Given) => Promise<Result>;
}

/** What `load` gives, of which there is at most one: simultaneous first uses share it. */
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

/** Lets a number of pieces of work go on at once; the others wait in order. */
export interface Slots {
  /** Undefined where there is a slot; else a promise of one. */
  take(): Promise<void> | undefined;
  /** Gives one back. */
  release(): void;
}

/** That many slots. */
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

/** Work that goes on by itself, and that somebody has to see the end of. */
interface Work {
  add(work: Promise<unknown>): void;
  /** Resolves when none is left, what was added meanwhile included. Never rejects. */
  ended(): Promise<void>;
}

/** Keeps track of work that nobody awaits one by one. */
export function trackWork(): Work {
  const underway = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      const tracked = work.catch(() => {}).finally(() => underway.delete(tracked));
      underway.add(tracked);
    },
    ended: async () => {
      while (underway.size > 0) await Promise.all(underway);
    },
  };
}

/** Longest time that a timer can wait: 2^31 - 1 milliseconds. */
export const longestMs = 2_147_483_647;
