import { RuntimeError } from '../../base/errors.ts';
import type { PendingDecision, PendingRecord } from '../../contract/approval.ts';
import type { CallableTool } from './callable-tool.ts';
import { whyNoApprover } from './decider.ts';

type Approved = Pick<CallableTool, 'name' | 'approval'>;
type Asked = Pick<PendingRecord, 'id' | 'tool' | 'origin' | 'quorum'>;

/** How many different people must approve a call of the tool. */
export function quorumOf({ approval }: Approved): number {
  return approval?.quorum ?? 1;
}

/**
 * Why this decision cannot be one about a call that several people must approve; undefined where it can. They approve the same
 * arguments, and nobody answers for them, unless nobody knows whether the tool has acted.
 */
export function whyNotForQuorum(
  { id, tool, origin, quorum = 1 }: Asked,
  decision: PendingDecision,
): RuntimeError | undefined {
  if (quorum <= 1) return undefined;
  const needs = `tool "${tool}" needs ${quorum} people who approve`;
  if (decision.kind === 'approved' && decision.args !== null)
    return unusable(`${needs}, and they cannot approve other arguments`, id);
  if (decision.kind === 'responded' && origin !== 'interrupted')
    return unusable(`${needs}, and nobody answers in its place`, id);
  return undefined;
}

/** Why a kept decision has no effect for this tool: of somebody who may not decide, or of fewer people than must approve. */
export function whyNotDecided(
  tool: Approved,
  record: Asked & Pick<PendingRecord, 'consents'>,
  decision: Extract<PendingDecision, { kind: 'approved' | 'responded' }>,
): RuntimeError | undefined {
  const quorum = Math.max(record.quorum ?? 1, quorumOf(tool));
  const refusal = whyNoApprover(tool, decision.by) ?? whyNotForQuorum({ ...record, quorum }, decision);
  if (refusal !== undefined || decision.kind === 'responded' || quorum <= 1) return refusal;
  const names = new Set((record.consents ?? []).map(({ by }) => by));
  const given = [...names].filter((by) => whyNoApprover(tool, by) === undefined).length;
  if (given >= quorum) return undefined;
  return new RuntimeError('USAGE', `${given} of ${quorum} people have approved tool "${tool.name}"`);
}

function unusable(message: string, id: string): RuntimeError {
  return new RuntimeError('USAGE', message, {
    hint: `Approve as it is, or reject with \`signalbox pending reject ${id} --reason REASON\`.`,
  });
}
