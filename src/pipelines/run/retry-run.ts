import { RuntimeError } from '../../base/errors.ts';
import type { RunDocument, RunStatus } from '../../contract/run.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { toCurrentSteps } from '../state/retries.ts';
import { busyError, requireOutermost } from './new-run.ts';
import { keepRetry, requireFromBelow } from './plan-retry.ts';
import {
  describeEnd,
  noWorkersError,
  type RunOptions,
  type RunsContext,
  requireEnv,
  workOn,
} from './runs.ts';

export interface RetryRequest {
  readonly id: string;
  /** The path of the first step to repeat. Default: what failed. */
  readonly from?: string | undefined;
  readonly toPipeline: (run: RunRecord) => Pipeline;
}

/**
 * Of two concurrent retries one succeeds. Throws RUN_UNKNOWN, RUN_NOT_RETRYABLE, RUN_BUSY, USAGE, CONFIG_INVALID,
 * STORE_FAILED, ABORTED.
 */
export async function retryRun(
  context: RunsContext,
  request: RetryRequest,
  options: RunOptions = {},
): Promise<RunDocument> {
  const run = requireRetryable(await requireOutermost(context.store, request.id, 'retry'));
  const pipeline = request.toPipeline(run);
  requireEnv(context, pipeline);
  const reopen = () => reopenRun(context.store, { ...request, pipeline }, 'running');
  const work = { pipeline, id: request.id, isResumed: true, reopen };
  return await workOn(context, work, options, describeEnd);
}

/** Resolves once the retry is stored. Throws the errors of `retryRun`, and USAGE for a store without workers. */
export async function queueRetry(context: RunsContext, request: RetryRequest): Promise<void> {
  const { store } = context;
  const { work } = store;
  if (work === undefined) throw noWorkersError(context.config);
  const pipeline = request.toPipeline(requireRetryable(await requireOutermost(store, request.id, 'retry')));
  const claim = await store.claimRun(request.id);
  if (claim === undefined) throw busyError(request.id);
  try {
    await reopenRun(store, { ...request, pipeline }, 'queued');
  } finally {
    await claim.release();
  }
  await work.giveBack(request.id);
}

async function reopenRun(
  store: Store,
  { id, from, pipeline }: RetryRequest & { readonly pipeline: Pipeline },
  status: 'running' | 'queued',
): Promise<void> {
  const run = requireRetryable(await requireOutermost(store, id, 'retry'));
  const steps = toCurrentSteps(id, await store.listSteps(id));
  const request = { run, pipeline, steps, from };
  await requireFromBelow(store, request);
  if (!(await keepRetry(store, request, { status })))
    throw new RuntimeError('RUN_NOT_RETRYABLE', `the status of run ${id} changed in the meantime`);
}

function requireRetryable(run: RunRecord): RunRecord {
  const { id, status } = run;
  const next: Readonly<Record<RunStatus, string>> = {
    ...{ failed: '', denied: '' },
    completed: 'There is nothing to retry: start a new run.',
    cancelled: 'A person cancelled it: start a new run.',
    queued: 'A worker will start it.',
    running: `It is running. If its process has ended, continue with \`signalbox runs resume ${id}\`.`,
    suspended: `It has not ended: continue with \`signalbox runs resume ${id}\`.`,
    waiting: `It has not ended: after its wait, continue with \`signalbox runs resume ${id}\`.`,
    pending: `It continues after a decision: \`signalbox runs show ${id}\`.`,
  };
  const hint = next[status];
  if (hint === '') return run;
  throw new RuntimeError(
    'RUN_NOT_RETRYABLE',
    `run ${id} is ${status}: only a run that failed or was denied can be retried`,
    {
      hint,
    },
  );
}
