import type { PendingCall, PendingDecision } from '../contract/approval.ts';
import { type Json, parseLossless, stringifyJson } from '../json/json.ts';

/** A person's approval of one hook's question, for exactly these arguments. */
export interface HookApproval {
  readonly hook: string;
  readonly args: Json;
}

/** The hook approval that a decision gives: one if a hook asked and the decision approved, else none. */
export function hookApprovalsOf({
  pending: { hook, args },
  ruling,
}: {
  readonly pending: PendingCall;
  readonly ruling: PendingDecision;
}): readonly HookApproval[] {
  return hook === null || ruling.kind !== 'approved' ? [] : [{ hook, args: ruling.args ?? args }];
}

export function isApproved(approvals: readonly HookApproval[], hook: string, args: Json): boolean {
  return approvals.some((approval) => approval.hook === hook && isSameJson(approval.args, args));
}

/** Whether two texts are the same JSON, white space and the spelling of numbers aside. */
export function isSameJson(one: Json, other: Json): boolean {
  return one.text === other.text || canonical(one) === canonical(other);
}

function canonical({ text }: Json): string {
  return stringifyJson(parseLossless(text));
}
