import type { Approval, PendingCall, Ruling } from '../contract/approval.ts';
import { failed, ok } from '../contract/tool.ts';
import { RuntimeError, toFault } from '../errors.ts';
import type { Json } from '../json.ts';
import {
  askConsent,
  type Before,
  type Call,
  type CallableTool,
  type CallContext,
  checkResult,
  execute,
  namesOf,
  passAfter,
  passBefore,
  readCheckedArgs,
} from './call.ts';
import { type CallResult, noMetadata, rejected, settled } from './call-result.ts';

/** A pending call with its ruling. */
export interface RuledCall {
  readonly pending: PendingCall;
  readonly ruling: Ruling;
  /** The hooks that asked about these arguments and were answered, this time or before. */
  readonly consented: ReadonlySet<string>;
}

/**
 * Carries a ruling about a pending call out. Approved: the tool is called with the approval; what a person
 * has edited, and what a hook asked about, passes schema and filters again first. Answered: the given result
 * stands for the tool's, output schema and after_execution filters included. Never rejects.
 */
export async function ruleCall(
  tool: CallableTool,
  { pending, ruling, consented }: RuledCall,
  context: CallContext = {},
): Promise<CallResult> {
  const key = context.idempotencyKey ?? pending.callId;
  const call: Call = { ...context, tool, callId: pending.callId, idempotencyKey: `${key}#${pending.id}` };
  switch (ruling.kind) {
    case 'approved':
      return await runApproved(call, { pending, ruling, consented });
    case 'responded':
      return await takeAnswer(call, pending.args, ruling.result);
    case 'rejected':
    case 'cancelled': {
      const by = ruling.by === '' ? '' : ` by ${ruling.by}`;
      const why = ruling.reason === '' ? '' : `: ${ruling.reason}`;
      const error = new RuntimeError('REJECTED', `tool "${tool.name}" was rejected${by}${why}`);
      return rejected(namesOf(call), toFault(error), ruling.reason);
    }
    case 'expired': {
      const message = `nobody decided about tool "${tool.name}" in time`;
      return settled(namesOf(call), failed(toFault(new RuntimeError('PENDING_EXPIRED', message))));
    }
  }
}

async function runApproved(
  call: Call,
  { pending, ruling, consented }: RuledCall & { readonly ruling: Extract<Ruling, { kind: 'approved' }> },
): Promise<CallResult> {
  let before: Before = { args: pending.args, metadata: noMetadata };
  const { origin } = pending;
  if (ruling.args !== null || origin === 'hook' || origin === 'interrupted') {
    let approved: Json;
    try {
      approved = readCheckedArgs(call.tool, (ruling.args ?? pending.args).text);
    } catch (error) {
      return settled(namesOf(call), failed(toFault(error)));
    }
    before = await passBefore(call, approved, consented);
    if (before.stopped !== undefined) return before.stopped;
    // A person has consented to the arguments that they saw, not to what a filter has made of these since.
    const asked = before.args.text === approved.text ? undefined : askConsent(call, before);
    if (asked !== undefined) return asked;
  }
  const { by, reason } = ruling;
  const approval: Approval = { id: pending.id, decision: 'approved', by, reason };
  return await execute(call, before, approval);
}

/** The hooks that need not be asked again after this ruling; edited arguments make earlier consents void. */
export function consentAfter(
  { pending, ruling }: Pick<RuledCall, 'pending' | 'ruling'>,
  before: ReadonlySet<string>,
): ReadonlySet<string> {
  const isEdited = ruling.kind === 'approved' && ruling.args !== null;
  return new Set([...(isEdited ? [] : before), ...(pending.hook === null ? [] : [pending.hook])]);
}

async function takeAnswer(call: Call, args: Json, result: Json): Promise<CallResult> {
  const outcome = checkResult(call.tool, ok(result));
  return await passAfter(call, { outcome, args, latencyMs: 0, metadata: noMetadata });
}
