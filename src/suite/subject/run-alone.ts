import { resolve } from 'node:path';
import type { RunDocument } from '../../contract/run.ts';
import { RuntimeError, toFault, toRuntimeError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import type { Pipeline } from '../../pipeline/file/model.ts';
import { cancelRun, type RunsContext, requireRun, startRun } from '../../pipeline/run/runs.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { type Made, nothing, type SubjectContext } from './source.ts';
import { readResult, waitsForPerson } from './tool.ts';
import { toTranscript } from './transcript.ts';

/** Runs a pipeline whose state ends with the run, and in which nobody is asked. Rejects with ABORTED only. */
export async function runAlone(
  pipeline: Pipeline,
  input: Json,
  { config, equipment, signal }: Pick<SubjectContext, 'config' | 'equipment'> & { signal: AbortSignal },
): Promise<Made> {
  const store = createMemoryStore();
  const emit: typeof equipment.emit = (event) => {
    // No store has such a call, so nobody could decide about it.
    if (event.type !== 'pending.opened') equipment.emit(event);
  };
  const runs: RunsContext = {
    store,
    equipment: { ...equipment, emit },
    config: resolve(config.file),
    isKept: false,
  };
  try {
    const document = await startRun(runs, pipeline, { input, signal });
    if (document.status === 'pending') await cancel(runs, document.run_id);
    const transcript = toTranscript(await store.listSteps(document.run_id), pipeline, config);
    return { ...nothing, ...transcript, ...(await toEnd(runs, document)) };
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code !== 'ABORTED') return { ...nothing, error: toFault(error) };
    const id = error.details['run_id'];
    if (typeof id === 'string') await cancel(runs, id);
    throw new RuntimeError('ABORTED', 'the subject was given up before it had answered', { cause: thrown });
  } finally {
    await store.close();
  }
}

/** Ends the run for its session hooks, which were told of its beginning. */
async function cancel(runs: RunsContext, id: string): Promise<void> {
  await cancelRun(runs, id, { by: 'signalbox', reason: 'nobody is asked in a suite' });
}

async function toEnd(
  { store }: RunsContext,
  { run_id, status, pending, error }: RunDocument,
): Promise<Pick<Made, 'text' | 'result' | 'error'>> {
  const [waiting] = pending;
  if (waiting !== undefined) return failedBy(waitsForPerson(waiting.tool, waiting));
  const { output } = await requireRun(store, run_id);
  if (output !== null) return readResult(output);
  return failedBy(error ?? toFault(new RuntimeError('INTERNAL', `the run is ${status} without an output`)));
}

function failedBy(error: NonNullable<Made['error']>) {
  return { text: '', result: null, error };
}
