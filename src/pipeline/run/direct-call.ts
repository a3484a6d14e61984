import type { PendingCall } from '../../contract/approval.ts';
import { toFault } from '../../errors.ts';
import { compileExpressions } from '../../expression/expression.ts';
import type { CallPaused, CallResult } from '../../hooks/call-result.ts';
import type { Json } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import type { CallableTool } from '../../tool-call/callable.ts';
import type { Pipeline } from '../file/model.ts';
import { writeCallResult } from '../state/call-record.ts';
import { toPending } from './calls.ts';
import { newRun } from './runs.ts';

/** A call that waits, and the arguments that it was made with. */
export interface PausedCall {
  readonly args: Json;
  readonly result: CallResult;
  readonly outcome: CallPaused;
}

/**
 * Keeps a single call that went pending as a run of one step, which can be resumed like any other. Nobody can
 * decide about it before all of it is kept. Throws STORE_FAILED.
 */
export async function keepCall(
  { store, config }: { readonly store: Store; readonly config: string },
  tool: CallableTool,
  { args, result, outcome }: PausedCall,
): Promise<PendingCall> {
  const run = newRun({ kind: 'tool', name: tool.name, file: null, source: '', config, input: args });
  const call = { name: `${stepId}/call`, tool, args: outcome.args, callId: result.callId };
  const pending = toPending(run.id, call, { outcome, round: 1, previous: null });
  await store.createRun(run);
  try {
    await store.beginStep(run.id, call.name, run.createdAt);
    await store.endStep(run.id, call.name, writeCallResult(result), Date.now());
    await store.setRunStatus(run.id, { status: 'pending', at: Date.now() });
    await store.addPending(pending);
    return pending;
  } catch (error) {
    // The caller is told of a failure, so that nothing must be left to go on with, if that can be kept at least.
    const failed = { status: 'failed' as const, error: toFault(error), at: Date.now() };
    await store.setRunStatus(run.id, failed).catch(() => {});
    throw error;
  }
}

/** A pending call that nobody keeps, for whoever may decide on the spot. */
export function newPending(
  tool: CallableTool,
  about: { readonly result: CallResult; readonly outcome: CallPaused; readonly previous: string | null },
): PendingCall {
  const { result, outcome, previous } = about;
  const call = { name: `${stepId}/call`, tool, args: outcome.args, callId: result.callId };
  return toPending(result.callId, call, { outcome, round: 1, previous });
}

const stepId = 'call';

/** The pipeline that a kept call is a run of. */
export function pipelineOfCall(tool: string, file: string): Pipeline {
  const step = {
    kind: 'tool',
    id: stepId,
    position: { file, line: 1, column: 1 },
    onError: { kind: 'stop' },
    tool,
    args: compileExpressions('${input}', ['input']),
  } as const;
  const output = compileExpressions(`\${steps.${stepId}.result}`, ['steps']);
  return { file, name: tool, source: '', checkInput: () => [], steps: [step], output };
}
