import type { RunStatus } from '../../../contract/run.ts';
import type { Store } from '../../../store/store.ts';
import { redoRecord, retryName } from '../../state/retries.ts';
import { planRetry, type RetryRequest } from '../plan-retry.ts';

/**
 * Keeps what a retry does again, and that the run goes on; whether it does. `of`: which retry of the outermost run it belongs to, of a run
 * below it. Throws USAGE, STORE_FAILED.
 */
export async function keepRetry(
  store: Store,
  request: RetryRequest,
  { status, of }: { readonly status: RunStatus; readonly of?: number },
): Promise<boolean> {
  const { run, steps, from } = request;
  const redo = planRetry(request);
  const at = Date.now();
  const record = redoRecord.write({
    redo,
    ...(of !== undefined && { of }),
    ...(from !== undefined && { from }),
  });
  // In this order: a process that is killed between the two leaves a run that failed, and can be retried.
  const [, stands] = await Promise.all([
    store.endStep(run.id, retryName(steps.retries + 1), record, at),
    store.setRunStatus(run.id, { status, reopens: true, at }),
  ]);
  return stands;
}
