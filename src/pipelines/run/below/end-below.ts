import { RuntimeError } from '../../../base/errors.ts';
import type { RunRecord, Store } from '../../../store/store.ts';
import { toCurrentSteps } from '../../state/retries.ts';
import type { EndBelow } from '../../state/run-below.ts';
import { stepEntryOf } from '../../state/step-outcome.ts';
import type { FaultPause } from '../../suspend/set-down.ts';

/** What a run came to, or by which fault it was set down. Throws RUN_ENDED for one that was cancelled. */
export async function readEnd(store: Store, id: string, setDown?: FaultPause): Promise<EndBelow> {
  if (setDown !== undefined) {
    const { error, transient } = setDown;
    const failedAt = await findFailed(store, { id, status: 'suspended', error });
    return { status: 'failed', output: null, error, failedAt, transient };
  }
  const run = await store.findRun(id);
  const { status, output = null, error = null } = run ?? {};
  switch (status) {
    case 'completed':
      return { status, output, error, failedAt: undefined };
    case 'failed':
    case 'denied': {
      const failedAt = error === null ? undefined : await findFailed(store, { id, status, error });
      return { status, output: null, error, failedAt };
    }
    default:
      throw new RuntimeError('RUN_ENDED', `run ${id} is ${status ?? 'gone'}`);
  }
}

/** The path of the step that made the run fail, as the journal has it. */
async function findFailed(
  store: Store,
  run: Pick<RunRecord, 'id' | 'status'> & { readonly error: NonNullable<RunRecord['error']> },
): Promise<string | undefined> {
  const { current } = toCurrentSteps(run.id, await store.listSteps(run.id));
  const failed = [...current.values()].flatMap((record) => {
    const entry = /[/[]/.test(record.step) ? undefined : stepEntryOf(run, record);
    const isCause = entry?.error?.code === run.error.code && entry.error.message === run.error.message;
    return isCause ? [entry?.failedAt ?? record.step] : [];
  });
  return failed.at(-1);
}
