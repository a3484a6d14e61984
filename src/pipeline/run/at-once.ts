import { RunPaused } from '../state/journal.ts';

/**
 * Does all of the work in its order, so many at once. One that waits for a person keeps its place: when as many wait
 * as may be at work, no further one is begun. After anything else that is thrown none is begun either; it is thrown when
 * those that are under way have ended.
 */
export async function atOnce<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const thrown: unknown[] = [];
  const left = items.entries();
  const workOn = async () => {
    for (const [index, item] of left) {
      try {
        results[index] = await work(item, index);
      } catch (error) {
        thrown.push(error);
        if (error instanceof RunPaused) return;
      }
      if (thrown.some(isNoPause)) return;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, workOn));
  if (thrown.length > 0) throw thrown.find(isNoPause) ?? thrown[0];
  return results;
}

function isNoPause(thrown: unknown): boolean {
  return !(thrown instanceof RunPaused);
}
