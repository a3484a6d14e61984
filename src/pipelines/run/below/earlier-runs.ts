import type { RunRecord, Store } from '../../../store/store.ts';
import { type CurrentSteps, toCurrentSteps } from '../../state/retries.ts';
import type { EarlierRuns } from '../../state/store-journal.ts';

/** What earlier attempts at the step did, with which the calls of a further one are compared. */
export async function findEarlier(store: Store, { id, parent }: RunRecord): Promise<EarlierRuns | undefined> {
  if (parent === undefined) return undefined;
  const all = await store.summarizeRuns({ parent: parent.id }, Date.now());
  const before = all
    .filter((run) => run.parent?.step === parent.step)
    .toSorted((one, other) => one.place - other.place);
  const own = before.findIndex((run) => run.id === id);
  const [first, ...others] = before.slice(0, Math.max(own, 0));
  if (first === undefined) return undefined;
  const records: CurrentSteps[] = [];
  for (const run of [first, ...others]) records.push(toCurrentSteps(run.id, await store.listSteps(run.id)));
  return {
    first: first.id,
    records: records.flatMap(({ redone, current }) => [...redone, ...current.values()]),
    count: records.reduce((sum, { retries }) => sum + 1 + retries, 0),
  };
}
