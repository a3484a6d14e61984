import { type Json, parseLossless, stringifyJson } from '../../base/json/json.ts';

/** A person's approval of one hook's question, for exactly these arguments. */
export interface HookApproval {
  readonly hook: string;
  readonly args: Json;
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
