import { mergeSuspended, RunSuspended } from '../state/journal.ts';

/**
 * Maps the items in order, at most `concurrency` at once, and returns the results in order. An item that
 * throws RunPaused keeps its slot, so no further item starts once all slots are paused. After any other error
 * no further item starts; the error is thrown once the items in flight have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const thrown: unknown[] = [];
  const remaining = items.entries();
  const worker = async () => {
    for (const [index, item] of remaining) {
      try {
        results[index] = await work(item, index);
      } catch (error) {
        thrown.push(error);
        if (error instanceof RunSuspended) return;
      }
      if (thrown.some(isFailure)) return;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, worker));
  const suspended = thrown.filter((each) => each instanceof RunSuspended);
  if (thrown.length > 0) throw thrown.find(isFailure) ?? mergeSuspended(suspended);
  return results;
}

function isFailure(thrown: unknown): boolean {
  return !(thrown instanceof RunSuspended);
}
