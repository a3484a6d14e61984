import type { RunInfo } from '../../contract/run.ts';
import type { Store } from '../../store/store.ts';
import { type ListFilter, listRuns } from './shown-runs.ts';

/**
 * Runs that can be gone on with now, the oldest first: a fault suspended them, whenever they are due, their calls are decided, their wait is
 * over, or their process is gone. Throws STORE_FAILED.
 */
export async function listResumable(
  store: Store,
  filter: Pick<ListFilter, 'name' | 'labels'>,
): Promise<RunInfo[]> {
  const { runs } = await store.listDue({ at: Date.now(), withFaults: true });
  const due = new Set(runs.map(({ id }) => id));
  const found: RunInfo[] = [];
  for (const status of ['suspended', 'waiting', 'pending', 'cut_off'] as const)
    found.push(...(await listRuns(store, { ...filter, status })).filter(({ run_id }) => due.has(run_id)));
  return found.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
}
