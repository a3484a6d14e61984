import type { PendingCall, Ruling } from '../contract/approval.ts';
import { type Json, parseLossless, stringifyJson } from '../json/json.ts';

/** A person's answer to one hook's question about these arguments, and about no others. */
export interface Consent {
  readonly hook: string;
  readonly args: Json;
}

/** The consents that a ruling gives: an approval of what a hook has asked about. */
export function consentsIn({
  pending: { hook, args },
  ruling,
}: {
  readonly pending: PendingCall;
  readonly ruling: Ruling;
}): readonly Consent[] {
  return hook === null || ruling.kind !== 'approved' ? [] : [{ hook, args: ruling.args ?? args }];
}

export function hasConsent(consents: readonly Consent[], hook: string, args: Json): boolean {
  return consents.some((consent) => consent.hook === hook && isSameJson(consent.args, args));
}

/** Whether two texts are the same JSON, white space and the spelling of numbers aside. */
export function isSameJson(one: Json, other: Json): boolean {
  return one.text === other.text || canonical(one) === canonical(other);
}

function canonical({ text }: Json): string {
  return stringifyJson(parseLossless(text));
}
