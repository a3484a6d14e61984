import type { Store } from '../../../store/store.ts';
import { isEnded } from '../../../store/store-rules.ts';

/** The runs below one that have not ended, the newest first. */
export async function openBelow(store: Store, root: string): Promise<readonly string[]> {
  const all = await store.summarizeRuns({ root }, Date.now());
  return all.filter(({ status }) => !isEnded(status)).map(({ id }) => id);
}
