import PQueue from 'p-queue';
import { RunPaused } from './journal.ts';

/**
 * Does all of the work, so many at once. A pause of one lets the others go as far as they can; what else one
 * of them throws is thrown when all have ended.
 */
export async function atOnce<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const queue = new PQueue({ concurrency: Math.max(1, concurrency) });
  const settled = await Promise.allSettled(items.map((item, index) => queue.add(() => work(item, index))));
  const thrown = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const worst = thrown.find((reason) => !(reason instanceof RunPaused)) ?? thrown[0];
  if (worst !== undefined) throw worst;
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value as Result] : []));
}
