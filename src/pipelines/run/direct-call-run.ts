import { toFault } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import type { Json } from '../../base/json/json.ts';
import type { CallableTool, CallPaused, CallResult } from '../../calls/tool-call/callable-tool.ts';
import { toPendingCall } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall } from '../../contract/approval.ts';
import type { NewRun, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { callRecord } from '../state/call-record.ts';
import { newRun } from './new-run.ts';

export { toPendingOpened } from '../state/decision-wait.ts';

export interface PendingDirectCall {
  readonly args: Json;
  readonly result: CallResult;
  readonly outcome: CallPaused;
}

/** Stores a pending direct call as a run of one step, its pending record last. Throws STORE_FAILED. */
export async function storePendingCall(
  {
    store,
    config,
    build,
  }: { readonly store: Store; readonly config: string; readonly build: string | undefined },
  tool: CallableTool,
  { args, result, outcome }: PendingDirectCall,
): Promise<PendingCall> {
  const run = newRun({ kind: 'tool', name: tool.name, file: null, source: '', config, input: args, build });
  const call = { name: directCallName, tool, args: outcome.args, callId: result.callId };
  const pending = toPendingCall(call, { runId: run.id, outcome, round: 1, previous: null });
  // The claim keeps others from treating the run as interrupted.
  const claim = await store.claimRun(run.id);
  try {
    await store.createRun(run);
    return await keepCall(store, run, { result, call, pending });
  } finally {
    await claim?.release();
  }
}

async function keepCall(
  store: Store,
  run: NewRun,
  {
    result,
    call,
    pending,
  }: Pick<PendingDirectCall, 'result'> & {
    readonly call: { readonly name: string };
    readonly pending: PendingCall;
  },
): Promise<PendingCall> {
  try {
    await store.beginStep(run.id, call.name, run.createdAt);
    await store.endStep(run.id, call.name, callRecord.write(result), Date.now());
    await store.setRunStatus(run.id, { status: 'pending', at: Date.now() });
    await store.addPending(pending);
    return pending;
  } catch (error) {
    // The caller gets the error, so the stored run is marked as failed if possible.
    const failed = { status: 'failed' as const, error: toFault(error), at: Date.now() };
    await store.setRunStatus(run.id, failed).catch(() => {});
    throw error;
  }
}

const stepId = 'call';

export const directCallName = `${stepId}/call`;

export function pipelineOfDirectCall(tool: string, file: string): Pipeline {
  const step = {
    kind: 'tool',
    id: stepId,
    position: { file, line: 1, column: 1 },
    onError: { kind: 'stop' },
    tool,
    args: compileExpressions('${input}', ['input']),
  } as const;
  const output = compileExpressions(`\${steps.${stepId}.result}`, ['steps']);
  return {
    file,
    name: tool,
    source: '',
    pipelines: {},
    checkInput: () => [],
    env: [],
    vars: [],
    steps: [step],
    finally: [],
    output,
  };
}
