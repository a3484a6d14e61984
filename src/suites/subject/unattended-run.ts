import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { RunDocument } from '../../contract/run.ts';
import { everyPipeline } from '../../pipelines/file/below/tools-below.ts';
import type { Pipeline } from '../../pipelines/file/pipeline.ts';
import { requireRun } from '../../pipelines/run/below/require-run.ts';
import { cancelRun, type RunsContext, startRun } from '../../pipelines/run/runs.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { openSqliteStore } from '../../store/sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import { emptyOutput, type SubjectContext, type SubjectOutput } from './adapter.ts';
import { type TranscribedRun, toTranscript } from './run-transcript.ts';
import { pendingFault, readResult } from './tool.ts';

/** Runs a pipeline in memory, without a person: a pending call is an error. Rejects with ABORTED only. */
export async function runUnattended(
  pipeline: Pipeline,
  input: Json,
  { config, services, signal }: Pick<SubjectContext, 'config' | 'services'> & { signal: AbortSignal },
): Promise<SubjectOutput> {
  const store = idleStores.pop() ?? (await openSqliteStore(memoryFile));
  const emit: typeof services.emit = (event) => {
    // The call is in no lasting store, so nobody could decide about it.
    if (event.type !== 'pending.opened') services.emit(event);
  };
  const runs: RunsContext = {
    store,
    services: { ...services, emit },
    config: identityOf(config),
    isKept: false,
  };
  try {
    const document = await startRun(runs, pipeline, { input, signal });
    if (document.status === 'pending') await cancel(runs, document.run_id);
    const transcript = toTranscript(await readRuns(store, document, pipeline), config);
    return { ...emptyOutput, ...transcript, ...(await readEnd(runs, document)) };
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code !== 'ABORTED') return { ...emptyOutput, error: toFault(error) };
    const id = error.details['run_id'];
    if (typeof id === 'string') await cancel(runs, id);
    throw new RuntimeError('ABORTED', 'the subject was given up before it had answered', { cause: thrown });
  } finally {
    // Nobody else uses it: what is left of the run is what has not ended.
    if ((await store.prune(Number.MAX_SAFE_INTEGER)) === 1) idleStores.push(store);
    else await store.close();
  }
}

/** The run, and those that its steps began. */
async function readRuns(
  store: Store,
  { run_id: id, status }: RunDocument,
  pipeline: Pipeline,
): Promise<TranscribedRun[]> {
  const runs: TranscribedRun[] = [{ run: { id, status }, steps: await store.listSteps(id), pipeline }];
  const known = everyPipeline(pipeline);
  if (known.size === 1) return runs;
  for (const run of await store.summarizeRuns({ root: id }, Date.now())) {
    const own = known.get(run.file ?? '');
    if (own !== undefined) runs.push({ run, steps: await store.listSteps(run.id), pipeline: own });
  }
  return runs;
}

/** Empty stores, at most one for each run at a time: to open one takes longer than to empty it. */
const idleStores: Store[] = [];

/** Cancels the run, so that session hooks that heard of its start hear of its end. */
async function cancel(runs: RunsContext, id: string): Promise<void> {
  await cancelRun(runs, id, { by: 'signalbox', reason: 'nobody is asked in a suite' });
}

async function readEnd(
  { store }: RunsContext,
  { run_id, status, pending, error }: RunDocument,
): Promise<Pick<SubjectOutput, 'text' | 'result' | 'error'>> {
  const [firstPending] = pending;
  if (firstPending !== undefined) return failedWith(pendingFault(firstPending.tool, firstPending));
  const { output } = await requireRun(store, run_id);
  if (output !== null) return readResult(output);
  return failedWith(error ?? toFault(new RuntimeError('INTERNAL', `the run is ${status} without an output`)));
}

function failedWith(error: NonNullable<SubjectOutput['error']>) {
  return { text: '', result: null, error };
}
