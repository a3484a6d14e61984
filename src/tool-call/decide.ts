import type { Approval, PendingCall, Ruling } from '../contract/approval.ts';
import { failed, ok } from '../contract/tool.ts';
import { RuntimeError, toFault } from '../errors.ts';
import { type CallResult, noMetadata, rejected, settled } from '../hooks/call-result.ts';
import type { Json } from '../json/json.ts';
import { checkResult, execute, passAfter } from './after.ts';
import { type Consent, isSameJson } from './allowance.ts';
import { askConsent, passBefore } from './before.ts';
import { type Judged, stoppedAt } from './call.ts';
import {
  type Before,
  type Call,
  type CallableTool,
  type CallContext,
  namesOf,
  readCheckedArgs,
} from './callable.ts';

/** A pending call with its ruling. */
export interface RuledCall {
  readonly pending: PendingCall;
  readonly ruling: Ruling;
  /** The arguments as no filter has seen them yet. */
  readonly from: Json;
  /** This ruling's and those before it. */
  readonly consents: readonly Consent[];
}

/**
 * Carries a ruling about a pending call out. Approved: the tool is called with the approval; what a person
 * has edited, and what a hook asked about, passes schema and filters again first. Answered: the given result
 * stands for the tool's, output schema and after_execution filters included. Never rejects.
 */
export async function ruleCall(
  tool: CallableTool,
  ruled: RuledCall,
  context: CallContext = {},
): Promise<CallResult> {
  const { finish } = await judgeRuling(tool, ruled, context);
  return await finish();
}

/** The same up to the point where the call is made, or its result taken. Never rejects. */
export async function judgeRuling(
  tool: CallableTool,
  { ruling, ...about }: RuledCall,
  context: CallContext = {},
): Promise<Judged> {
  const { pending } = about;
  const key = context.idempotencyKey ?? pending.callId;
  const call: Call = { ...context, tool, callId: pending.callId, idempotencyKey: `${key}#${pending.id}` };
  switch (ruling.kind) {
    case 'approved':
      return await judgeApproved(call, { ...about, ruling });
    case 'responded':
      return { finish: async () => await takeAnswer(call, pending.args, ruling.result) };
    case 'rejected':
    case 'cancelled': {
      const by = ruling.by === '' ? '' : ` by ${ruling.by}`;
      const why = ruling.reason === '' ? '' : `: ${ruling.reason}`;
      const error = new RuntimeError('REJECTED', `tool "${tool.name}" was rejected${by}${why}`);
      return stoppedAt(rejected(namesOf(call), toFault(error), ruling.reason));
    }
    case 'expired': {
      const message = `nobody decided about tool "${tool.name}" in time`;
      return stoppedAt(settled(namesOf(call), failed(toFault(new RuntimeError('PENDING_EXPIRED', message)))));
    }
  }
}

interface ApprovedCall extends RuledCall {
  readonly ruling: Extract<Ruling, { kind: 'approved' }>;
}

async function judgeApproved(call: Call, approved: ApprovedCall): Promise<Judged> {
  const { pending, ruling } = approved;
  const { by, reason } = ruling;
  const approval: Approval = { id: pending.id, decision: 'approved', by, reason };
  // The tool itself has asked, or was about to run: these arguments have passed all filters.
  const isPassed = ruling.args === null && (pending.origin === 'tool' || pending.origin === 'approval');
  const before = isPassed ? untouched(call, pending.args) : await passAgain(call, approved);
  return before.stopped === undefined
    ? { finish: async () => await execute(before, approval) }
    : stoppedAt(before.stopped);
}

/** All filters are asked anew: what one of them has changed before must not be changed twice. */
async function passAgain(call: Call, { pending, ruling, from, consents }: ApprovedCall): Promise<Before> {
  let args: Json;
  try {
    // The form was refused when the call was made, if it came from a model.
    args = readCheckedArgs(call.tool, (ruling.args ?? from).text, true);
  } catch (error) {
    const stopped = settled(namesOf(call), failed(toFault(error)));
    return { ...untouched(call, from), stopped };
  }
  const before = await passBefore(call, args, consents);
  if (before.stopped !== undefined) return before;
  const seen = ruling.args ?? pending.args;
  if (isSameJson(before.args, seen)) return { ...before, args: seen };
  // A person has consented to the arguments that they saw, not to what filters have made of these since.
  const stopped = askConsent(before);
  return stopped === undefined ? before : { ...before, stopped };
}

/** Arguments that no filter is asked about now. */
function untouched(call: Call, args: Json): Before {
  return { call, asked: args, args, metadata: noMetadata, context: [] };
}

async function takeAnswer(call: Call, args: Json, result: Json): Promise<CallResult> {
  const outcome = checkResult(call.tool, ok(result));
  await call.results?.();
  return await passAfter(untouched(call, args), outcome, { latencyMs: 0 });
}
