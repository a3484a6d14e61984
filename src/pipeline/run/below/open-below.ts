import type { Store } from '../../../store/store.ts';

/** The runs below one that have not ended, the newest first. */
export async function openBelow(store: Store, root: string): Promise<readonly string[]> {
  const open = await Promise.all(
    (['running', 'pending'] as const).map((status) => store.summarizeRuns({ root, status }, Date.now())),
  );
  return open.flat().map(({ id }) => id);
}
