import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import type { Json } from '../../base/json/json.ts';
import type { CallableTool, CallPaused, CallResult } from '../../calls/tool-call/callable-tool.ts';
import { type DocumentOptions, toToolDocument } from '../../calls/tool-call/document.ts';
import { toPendingCall } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall } from '../../contract/approval.ts';
import type { ToolDocument } from '../../contract/document.ts';
import type { KeptIdentity } from '../../store/identities.ts';
import type { Claim, NewRun, RunRecord, Store } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { callRecord } from '../state/call-record.ts';
import { type RecordSource, readRecord } from '../state/record.ts';
import { toCurrentSteps } from '../state/retries.ts';
import { newRun, newRunId } from './new-run.ts';

export { toPendingOpened } from '../state/decision-wait.ts';

export interface PendingDirectCall {
  readonly args: Json;
  readonly result: CallResult;
  readonly outcome: CallPaused;
  /** Under which the call is found again. */
  readonly name?: CallName | undefined;
}

/**
 * Stores a pending direct call as a run of one step, its pending record last. Undefined: another call has its name.
 * Throws STORE_FAILED.
 */
export async function storePendingCall(
  {
    store,
    config,
    build,
  }: { readonly store: Store; readonly config: string; readonly build: string | undefined },
  tool: CallableTool,
  { args, result, outcome, name }: PendingDirectCall,
): Promise<PendingCall | undefined> {
  const claimed = name && (await claimCallRun(store, name));
  if (claimed?.isTaken === true) return undefined;
  const about = {
    kind: 'tool',
    name: tool.name,
    file: null,
    source: '',
    config,
    input: args,
    build,
  } as const;
  const run = newRun(about, claimed?.id);
  const call = { name: directCallName, tool, args: outcome.args, callId: result.callId };
  const pending = toPendingCall(call, { runId: run.id, outcome, round: 1, previous: null });
  // The claim keeps others from treating the run as interrupted.
  const claim = claimed?.claim ?? (await store.claimRun(run.id));
  try {
    await store.createRun(run);
    return await keepCall(store, run, { result, call, pending });
  } finally {
    await claim?.release();
  }
}

export function toPendingCallDocument({ id, runId, reason, message }: PendingCall): ToolDocument {
  return { status: 'pending', pending: { id, run_id: runId, reason, message } };
}

/** The identity of a call, without its run. */
export type CallName = Pick<KeptIdentity, 'key' | 'principal' | 'args'>;

type ClaimedCallRun =
  | { readonly id: string; readonly isTaken: false; readonly claim: Claim | undefined }
  | { readonly id: string; readonly isTaken: true; readonly identity: KeptIdentity };

/**
 * Claims the run of a call, which does not exist yet. `isTaken`: another call has the identity, and its run exists.
 * Throws STORE_FAILED, ABORTED.
 */
export async function claimCallRun(
  store: Store,
  name: CallName,
  signal?: AbortSignal,
): Promise<ClaimedCallRun> {
  // Unguessable, because the ID may be all that a client needs to read the outcome.
  const own = newRunId(16);
  const ownClaim = await store.claimRun(own);
  let identity: KeptIdentity | undefined;
  try {
    identity = await store.claimIdentity({ ...name, run: own, at: Date.now() });
  } finally {
    if (identity?.run !== own) await ownClaim?.release();
  }
  const { run: id } = identity;
  if (id === own) return { id, isTaken: false, claim: ownClaim };
  for (;;) {
    // Without the run, its creator is at work or has died. A live creator holds the claim.
    const claim = await store.claimRun(id);
    if ((await store.findRunStatus(id)) !== undefined) {
      await claim?.release();
      return { id, isTaken: true, identity };
    }
    if (claim !== undefined) return { id, isTaken: false, claim };
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

const PAUSE_MS = 20;

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

interface EndedCall {
  /** The run of the call, which may be below the outermost one, and the path of the call in it. */
  readonly run: string;
  readonly step: string;
  readonly outermost: RunRecord;
}

/** The document of a call; undefined if it has none yet and its outermost run has not ended. Throws STORE_FAILED. */
export async function readCallDocument(
  store: Store,
  { run, step, outermost: { id, status, error } }: EndedCall,
  options?: DocumentOptions,
): Promise<ToolDocument | undefined> {
  const { current } = toCurrentSteps(run, await store.listSteps(run));
  const isOfCall = (path: string) => path === step || path.startsWith(`${step}/ruling-`);
  const record = [...current].findLast(([path]) => isOfCall(path))?.[1];
  if (status !== 'cancelled' && record !== undefined && record.outcome !== null) {
    const document = toCallDocument(record.outcome, { run, step: record.step }, options);
    if (document !== undefined) return document;
  }
  if (!isEnded(status)) return undefined;
  const lost = new RuntimeError('INTERNAL', `run ${id} is ${status}, and its call has no outcome`);
  return { status: 'failed', error: error ?? toFault(lost) };
}

/** Undefined: the call waits for a person, or another record has its decision. Throws STORE_FAILED. */
export function toCallDocument(
  record: Json,
  place: RecordSource,
  options?: DocumentOptions,
): ToolDocument | undefined {
  const { outcome, ...result } = readRecord(callRecord, record, place);
  return outcome.status === 'pending' ? undefined : toToolDocument({ ...result, outcome }, options);
}

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
