import type { RunRecord, Store } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { redoRecord, retryName, toCurrentSteps } from '../state/retries.ts';
import { notDueError } from '../suspend/set-down.ts';
import { planResume } from './plan-retry.ts';

/**
 * Keeps that what a fault has failed is done again, of a run that it suspended. `of`: which retry of the outermost run it belongs to, of a run
 * below it. Throws STORE_FAILED.
 */
export async function redoFaults(
  store: Store,
  { id, pipeline, of }: { readonly id: string; readonly pipeline: Pipeline; readonly of?: number },
): Promise<void> {
  const run = await store.findRun(id);
  if (run?.status !== 'suspended') return;
  const steps = toCurrentSteps(id, await store.listSteps(id));
  const redo = planResume({ run, pipeline, steps });
  // Whoever was killed here before has kept it.
  if (redo.length === 0) return;
  await store.endStep(
    id,
    retryName(steps.retries + 1),
    redoRecord.write({ redo, ...(of !== undefined && { of }) }),
    Date.now(),
  );
}

/** Throws RUN_BUSY for a run that another process has gone on with since it was found to be due, and STORE_FAILED. */
export async function requireDue(store: Store, id: string): Promise<void> {
  const { runs } = await store.listDue({ at: Date.now(), id });
  if (runs.length === 0) throw notDueError(id);
}

/** Whether a start with the id of this run goes on with it, where nobody executes it: it does not wait for a person, nor for a worker. */
export async function isLeft(store: Store, { id, status, parent }: RunRecord): Promise<boolean> {
  // A step of another goes on with that one.
  if (parent !== undefined || isEnded(status) || status === 'queued') return false;
  if (status !== 'pending') return true;
  return (await store.listPendings({ runId: id, below: true, open: true }, Date.now())).length === 0;
}
