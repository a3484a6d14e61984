/** Opens a source of items that ends early when its signal is aborted. */
export type Source<Item> = (signal: AbortSignal) => AsyncIterable<Item>;

export interface WindowOptions {
  /** Items worked on at once; the next one is pulled only when fewer are. */
  readonly window: number;
  /** Stops the pulling; items that were begun are still waited for. */
  readonly signal: AbortSignal;
}

/**
 * Works through a source of any length in constant memory. `work` is called in the order of the source. The
 * first failure of the source or of `work` stops the pulling and is thrown once nothing is in flight any more.
 */
export async function workThrough<Item>(
  source: Source<Item>,
  { window, signal }: WindowOptions,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const slots = newSlots(window);
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    stop.abort();
  };
  try {
    for await (const item of source(stopped)) {
      if (stopped.aborted) break;
      slots.take();
      void work(item).catch(fail).finally(slots.give);
      await slots.whenFree(1);
      if (stopped.aborted) break;
    }
  } catch (error) {
    fail(error);
  }
  await slots.whenFree(window);
  if (failures.length > 0) throw failures[0];
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
