import { RuntimeError, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type { Approval, PendingCall, PendingDecision, PendingRecord } from '../../contract/approval.ts';
import { failed, ok } from '../../contract/tool.ts';
import { type CallResult, rejectedResult, resultOf } from '../hooks/call-result.ts';
import { checkResult, executeCall, passAfterHooks } from './after-execution.ts';
import { findRequiredApproval, passBeforeHooks } from './before-execution.ts';
import { type PreparedCall, stoppedCall, unfilteredCall } from './call.ts';
import {
  type Call,
  type CallableTool,
  type CallContext,
  type FilteredCall,
  namesOf,
} from './callable-tool.ts';
import { type HookApproval, isSameJson } from './hook-approval.ts';
import type { DecidedRecord, PlannedCall } from './pending-call.ts';
import { whyNotDecided } from './quorum.ts';
import { readCheckedArgs } from './tool-args.ts';

/** The decision about a pending call, and what those before it left. */
export interface CallDecision {
  readonly record: DecidedRecord;
  /** The arguments as a person edited them last; null: as they were. */
  readonly editedArgs: Json | null;
  /** The hook approvals of this decision and of those before it. */
  readonly approvals: readonly HookApproval[];
}

/**
 * Prepares what the decision about a pending call asks for. Approved: `finish` calls the tool with the approval
 * record; edited arguments, and a call that a hook asked about, pass schema and filters again first. Responded:
 * it takes the given result in place of the tool's, through output schema and after_execution filters.
 * Rejected, cancelled, expired: a failed result. Never rejects.
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
      return await prepareApproved(call, { pending, decision, asked: editedArgs ?? args, approvals });
    }
    case 'responded': {
      const stopped = refuseDecider(call, pending, decision);
      if (stopped !== undefined) return stoppedCall(stopped);
      return { finish: async () => await takePersonResult(call, pending.args, decision.result) };
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

/** What a decision is about. */
type PendingAsked = PendingCall & Pick<PendingRecord, 'consents'>;

/** A call that a person has approved. */
export interface ApprovedCall {
  readonly pending: PendingAsked;
  readonly decision: Extract<PendingDecision, { kind: 'approved' }>;
  /** The arguments before any filter changed them. */
  readonly asked: unknown;
  readonly approvals: readonly HookApproval[];
}

async function prepareApproved(call: Call, approved: ApprovedCall): Promise<PreparedCall> {
  const { pending, decision } = approved;
  const { reason } = decision;
  const by = (pending.consents ?? []).map((consent) => consent.by).join(', ') || decision.by;
  const approval: Approval = { id: pending.id, decision: 'approved', by, reason };
  const before = await filterApproved(call, approved);
  return before.stopped === undefined
    ? { finish: async () => await executeCall(before, approval) }
    : stoppedCall(before.stopped);
}

/**
 * The approved call as its filters leave it, with the arguments that it is to be made with; `stopped` as well when one of
 * them ends it, or when they need another approval. Edited arguments, and a call that a hook asked about, pass schema and
 * filters again. Never rejects.
 */
export async function filterApproved(call: Call, approved: ApprovedCall): Promise<FilteredCall> {
  const { pending, decision } = approved;
  // The tool itself has asked, or was about to run: these arguments have passed all filters.
  const isPassed = decision.args === null && (pending.origin === 'tool' || pending.origin === 'approval');
  const before = isPassed ? unfilteredCall(call, pending.args) : await passHooksAgain(call, approved);
  const stopped = refuseDecider(call, pending, decision, before.call.tool);
  return stopped === undefined ? before : { ...before, stopped };
}

/**
 * The failed result of a call whose decision is that of somebody whom the config does not let decide, or of too few, of what was planned, what
 * waited, or what hooks made of it. It may have been kept before the config said so, or by a program that does not ask it.
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

/** Asks all filters again, with the original or edited arguments, so that no change is applied twice. */
async function passHooksAgain(
  call: Call,
  { pending, decision, asked, approvals }: ApprovedCall,
): Promise<FilteredCall> {
  let args: Json;
  try {
    // The form was refused when the call was made, if it came from a model.
    args = readCheckedArgs(call.tool, asked instanceof Json ? asked.text : asked, true);
  } catch (error) {
    const stopped = resultOf(namesOf(call), failed(toFault(error)));
    return { ...unfilteredCall(call, pending.args), stopped };
  }
  const before = await passBeforeHooks(unfilteredCall(call, args), approvals);
  if (before.stopped !== undefined) return before;
  const approvedArgs = decision.args ?? pending.args;
  if (isSameJson(before.args, approvedArgs)) return { ...before, args: approvedArgs };
  // The person approved the arguments that they saw, so arguments changed since need a new approval.
  const stopped = findRequiredApproval(before);
  return stopped === undefined ? before : { ...before, stopped };
}

async function takePersonResult(call: Call, args: Json, result: Json): Promise<CallResult> {
  const outcome = checkResult(call.tool, ok(result));
  await call.waitForResults?.();
  return await passAfterHooks(unfilteredCall(call, args), outcome, { latencyMs: 0 });
}
