import { setImmediate as nextTurn } from 'node:timers/promises';

/** Pieces of work that are done together, in the order in which they were asked for. */
export interface WorkQueue {
  /** Resolves when the work and all that was done with it is kept. Rejects with what it, or the keeping, throws. */
  add<Result>(work: () => Result): Promise<Result>;
  /** Resolves when nothing waits. */
  onIdle(): Promise<void>;
}

/** Does all of the works in one transaction, or none. */
export type DoTogether = (works: readonly (() => void)[]) => Promise<void>;

/** A queue that hands what is asked for within one turn of the event loop, or during an earlier commit, to one call. */
export function createWorkQueue(doTogether: DoTogether): WorkQueue {
  let waiting: Entry[] = [];
  let running: Promise<void> | undefined;
  const run = async () => {
    for (await nextTurn(); waiting.length > 0; ) {
      const batch = waiting;
      waiting = [];
      await commit(batch, doTogether);
    }
    running = undefined;
  };
  return {
    add: (work) => {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>();
      let result: { readonly value: ReturnType<typeof work> } | undefined;
      waiting.push({
        work: () => {
          result = { value: work() };
        },
        done: () =>
          result === undefined ? reject(new Error('the work was not done')) : resolve(result.value),
        reject,
      });
      running ??= run();
      return promise;
    },
    onIdle: async () => {
      while (running !== undefined) await running;
    },
  };
}

interface Entry {
  readonly work: () => void;
  readonly done: () => void;
  readonly reject: (error: unknown) => void;
}

/** Never rejects. */
async function commit(batch: readonly Entry[], doTogether: DoTogether): Promise<void> {
  try {
    await doTogether(batch.map(({ work }) => work));
    for (const { done } of batch) done();
  } catch (error) {
    if (batch.length === 1) batch[0]?.reject(error);
    // One of them is at fault, and the others are not to suffer for it.
    else for (const entry of batch) await commit([entry], doTogether);
  }
}
