import type { Link } from '../../calls/hooks/gate.ts';

/** Works on the calls of one round: one after another where hooks of other systems hear of them, else all at once. */
export async function mapCalls<Item, Result>(
  links: readonly Link[],
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  if (!links.some((link) => 'group' in link)) return await Promise.all(items.map(work));
  const results: Result[] = [];
  for (const [at, item] of items.entries()) results.push(await work(item, at));
  return results;
}
