import { createHash } from 'node:crypto';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type { Approval, PendingCall, PendingDecision, PendingRecord } from '../../contract/approval.ts';
import { failed, ok } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { passGate } from '../hooks/gate.ts';
import { passAfterHooks } from './after-execution.ts';
import { quorumOf, whyNotDecided } from './approvals.ts';
import { findRequiredApproval, type HookApproval, isSameJson, passBeforeHooks } from './before-execution.ts';
import { checkResult, executeCall, type PreparedCall, stoppedCall } from './call.ts';
import {
  type Call,
  type CallableTool,
  type CallContext,
  type CallPaused,
  type CallResult,
  type FilteredCall,
  namesOf,
  readCheckedArgs,
  rejectedResult,
  requestOf,
  resultOf,
  unfilteredCall,
} from './callable-tool.ts';

export interface PlannedCall {
  readonly name: string;
  readonly tool: CallableTool;
  readonly args: unknown;
  /** `args` for the journal, with long texts as separate parts. */
  readonly composed?: Json;
  readonly callId: string;
  /** The retry of the run that makes the call. Default: 0. */
  readonly edition?: number | undefined;
  readonly toolUseId?: string | undefined;
  readonly key?: string | undefined;
}

/** The record of a decided pending call. `ruling` is the stored name of the decision. */
export type DecidedRecord = PendingRecord & { readonly ruling: NonNullable<PendingRecord['ruling']> };

interface Pause {
  readonly runId: string;
  readonly outcome: CallPaused;
  readonly round: number;
  readonly previous: string | null;
}

export function toPendingCall(
  { name, tool, callId, edition = 0 }: PlannedCall,
  { runId, outcome, round, previous }: Pause,
): PendingCall {
  const { origin, hook, args, reason, message, members, expiresMs } = outcome;
  const createdAt = Date.now();
  const quorum = quorumOf(tool);
  return {
    ...{
      id: pendingId(runId, edition === 0 ? name : `${name}~${edition}`, round),
      runId,
      step: name,
      callId,
      tool: tool.name,
      args,
    },
    ...{ origin, hook, reason, message, members, previous, createdAt },
    expiresAt: expiresMs === null ? null : createdAt + expiresMs,
    ...(quorum > 1 && { quorum }),
  };
}

/** A deterministic id, so that a crash between two writes creates no second pending record. */
export function pendingId(runId: string, name: string, round: number): string {
  return `pending_${createHash('sha256').update(`${runId}\n${name}\n${round}`).digest('hex').slice(0, 16)}`;
}

export async function notifyPending(
  { tool, callId, toolUseId }: Pick<Call, 'tool' | 'callId' | 'toolUseId'>,
  { id, args, message }: PendingCall,
  hookContext: HookContext,
): Promise<void> {
  const request = requestOf({ tool, callId, toolUseId }, args);
  const event = { hook: 'tool', phase: 'pending', request, id, message } as const;
  await passGate(tool.links, event, { call: callId, hookContext });
}

interface CallDecision {
  readonly record: DecidedRecord;
  /** The arguments after the last edit by a person; null: unedited. */
  readonly editedArgs: Json | null;
  readonly approvals: readonly HookApproval[];
}

/**
 * Prepares a decided call. Approved: calls the tool with the approval record; edited arguments and calls that a hook
 * asked about pass schema and filters again. Responded: passes the given result through output schema and
 * after_execution filters. Rejected, cancelled, expired: a failed result. Never rejects.
 */
export async function prepareDecidedCall(
  { tool, args }: Pick<PlannedCall, 'tool' | 'args'>,
  decided: CallDecision,
  context: CallContext = {},
): Promise<PreparedCall> {
  const { ruling: decision, ...pending } = decided.record;
  const key = context.idempotencyKey ?? pending.callId;
  const call: Call = { ...context, tool, callId: pending.callId, idempotencyKey: `${key}#${pending.id}` };
  switch (decision.kind) {
    case 'approved': {
      const { editedArgs, approvals } = decided;
      const before = await filterApproved(call, { pending, decision, asked: editedArgs ?? args, approvals });
      if (before.stopped !== undefined) return stoppedCall(before.stopped);
      const by = (pending.consents ?? []).map((consent) => consent.by).join(', ') || decision.by;
      const approval: Approval = { id: pending.id, decision: 'approved', by, reason: decision.reason };
      return { finish: async () => await executeCall(before, approval) };
    }
    case 'responded': {
      const stopped = refuseDecider(call, pending, decision);
      if (stopped !== undefined) return stoppedCall(stopped);
      const finish = async () => {
        const outcome = checkResult(call.tool, ok(decision.result));
        await call.waitForResults?.();
        return await passAfterHooks(unfilteredCall(call, pending.args), outcome, { latencyMs: 0 });
      };
      return { finish };
    }
    case 'rejected':
    case 'cancelled': {
      const by = decision.by === '' ? '' : ` by ${decision.by}`;
      const why = decision.reason === '' ? '' : `: ${decision.reason}`;
      const error = new RuntimeError('REJECTED', `tool "${tool.name}" was rejected${by}${why}`);
      return stoppedCall(rejectedResult(namesOf(call), toFault(error), decision.reason));
    }
    case 'expired': {
      const message = `nobody decided about tool "${tool.name}" in time`;
      return stoppedCall(
        resultOf(namesOf(call), failed(toFault(new RuntimeError('PENDING_EXPIRED', message)))),
      );
    }
  }
}

interface ApprovedCall {
  readonly pending: PendingCall & Pick<PendingRecord, 'consents'>;
  readonly decision: Extract<PendingDecision, { kind: 'approved' }>;
  readonly asked: unknown;
  readonly approvals: readonly HookApproval[];
}

/**
 * Returns the approved call with its final arguments. `stopped` is set if a filter ends it or the arguments need
 * another approval. Edited arguments and calls that a hook asked about pass schema and filters again. Never rejects.
 */
export async function filterApproved(call: Call, approved: ApprovedCall): Promise<FilteredCall> {
  const { pending, decision } = approved;
  // If the tool asked, or the config required approval, these arguments have passed all filters.
  const isPassed = decision.args === null && (pending.origin === 'tool' || pending.origin === 'approval');
  const before = isPassed ? unfilteredCall(call, pending.args) : await passHooksAgain(call, approved);
  const stopped = refuseDecider(call, pending, decision, before.call.tool);
  return stopped === undefined ? before : { ...before, stopped };
}

/**
 * The failed result if the decider is not permitted or too few people approved. Stored decisions need this check: the
 * config may have changed, or another program may have stored them.
 */
export function refuseDecider(
  call: Call,
  pending: Parameters<typeof whyNotDecided>[1],
  decision: Parameters<typeof whyNotDecided>[2],
  made: CallableTool = call.tool,
): CallResult | undefined {
  const tools = [call.tool, call.find?.(pending.tool) ?? call.tool, made];
  const refusal = tools
    .map((tool) => whyNotDecided(tool, pending, decision))
    .find((error) => error !== undefined);
  if (refusal === undefined) return undefined;
  const error = new RuntimeError('REJECTED', refusal.message, { hint: refusal.hint });
  return rejectedResult(namesOf(call), toFault(error), '');
}

/** Starts from the original or edited arguments, so that no change is applied twice. */
async function passHooksAgain(
  call: Call,
  { pending, decision, asked, approvals }: ApprovedCall,
): Promise<FilteredCall> {
  let args: Json;
  try {
    args = readCheckedArgs(call.tool, asked instanceof Json ? asked.text : asked, true);
  } catch (error) {
    const stopped = resultOf(namesOf(call), failed(toFault(error)));
    return { ...unfilteredCall(call, pending.args), stopped };
  }
  const before = await passBeforeHooks(unfilteredCall(call, args), approvals);
  if (before.stopped !== undefined) return before;
  const approvedArgs = decision.args ?? pending.args;
  if (isSameJson(before.args, approvedArgs)) return { ...before, args: approvedArgs };
  // The approval covers the arguments that the person saw; later changes need a new one.
  const stopped = findRequiredApproval(before);
  return stopped === undefined ? before : { ...before, stopped };
}

export interface CallLoop<Slot> {
  readonly runId: string;
  runRound<Item, Result>(
    items: readonly Item[],
    work: (item: Item, slot: Slot) => Promise<Result>,
  ): Promise<Result[]>;
  make(call: PlannedCall, slot: Slot): Promise<CallResult>;
  /** Stores the waiting calls and awaits all decisions. Returns undefined if they stay pending. */
  decide(waiting: readonly PendingCall[]): Promise<readonly DecidedRecord[] | undefined>;
  resume(call: PlannedCall, decided: DecidedInRound, slot: Slot): Promise<CallResult>;
}

export interface DecidedInRound extends CallDecision {
  readonly round: number;
}

interface CallState {
  readonly call: PlannedCall;
  readonly result: CallResult;
  readonly decision?: CallDecision;
}

/**
 * Makes calls until none waits for a person. Waiting calls are recorded together, in call order, and resume when all
 * are decided. Returns results in call order. Throws the errors of the loop's functions.
 */
export async function runCallLoop<Slot>(
  calls: readonly PlannedCall[],
  loop: CallLoop<Slot>,
): Promise<CallResult[]> {
  let states: readonly CallState[] = await loop.runRound(calls, async (call, slot) => ({
    call,
    result: await loop.make(call, slot),
  }));
  for (let round = 1; states.some(({ result }) => result.outcome.status === 'pending'); round += 1) {
    const waiting = states.flatMap(({ call, result: { outcome }, decision }) => {
      const previous = decision?.record.id ?? null;
      const pause = { runId: loop.runId, round, previous };
      return outcome.status === 'pending' ? [toPendingCall(call, { ...pause, outcome })] : [];
    });
    const decided = await loop.decide(waiting);
    if (decided === undefined) break;
    const records = new Map(decided.map((record) => [record.step, record]));
    states = await loop.runRound(states, async (state, slot): Promise<CallState> => {
      const record = records.get(state.call.name);
      if (record === undefined) return state;
      const decision = addDecision(state.decision, record);
      return { ...state, decision, result: await loop.resume(state.call, { ...decision, round }, slot) };
    });
  }
  return states.map(({ result }) => result);
}

function addDecision(before: CallDecision | undefined, record: DecidedRecord): CallDecision {
  const { hook, args, ruling } = record;
  const isApproved = ruling.kind === 'approved';
  const edited = isApproved ? ruling.args : null;
  const approval = isApproved && hook !== null ? [{ hook, args: edited ?? args }] : [];
  return {
    record,
    editedArgs: edited ?? before?.editedArgs ?? null,
    approvals: [...(before?.approvals ?? []), ...approval],
  };
}
