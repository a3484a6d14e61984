import { setImmediate as nextTurn } from 'node:timers/promises';
import PQueue from 'p-queue';

export interface Batches<Item, Result> {
  add(item: Item): Promise<Result>;
  run<Value>(work: () => Promise<Value>): Promise<Value>;
  onIdle(): Promise<void>;
}

/**
 * Batches items that are added within one turn of the event loop, or during an earlier batch. `doTogether` does all of
 * a batch or nothing. If it fails, items run one by one, unless `ofAll` says that the error concerns all.
 */
export function createBatches<Item, Result>(
  doTogether: (items: readonly Item[]) => Promise<readonly Result[]>,
  {
    most = Number.POSITIVE_INFINITY,
    ofAll = () => false,
  }: { most?: number; ofAll?: (error: unknown) => boolean } = {},
): Batches<Item, Result> {
  const queue = new PQueue({ concurrency: 1 });
  let waiting: (PromiseWithResolvers<Result> & { readonly item: Item })[] = [];
  const settle = async (entries: typeof waiting): Promise<void> => {
    try {
      const results = await doTogether(entries.map(({ item }) => item));
      for (const [index, { resolve, reject }] of entries.entries()) {
        if (index < results.length) resolve(results[index] as Result);
        else reject(new Error('the work was not done'));
      }
    } catch (error) {
      if (entries.length > 1 && !ofAll(error)) for (const entry of entries) await settle([entry]);
      else for (const { reject } of entries) reject(error);
    }
  };
  const settleWaiting = async () => {
    await nextTurn();
    const entries = waiting.slice(0, most);
    waiting = waiting.slice(most);
    if (waiting.length > 0) void queue.add(settleWaiting);
    await settle(entries);
  };
  return {
    add: async (item) => {
      const entry = { item, ...Promise.withResolvers<Result>() };
      if (waiting.push(entry) === 1) void queue.add(settleWaiting);
      return await entry.promise;
    },
    run: async (work) => await queue.add(work),
    onIdle: () => queue.onIdle(),
  };
}
