import { isObject } from '../base/json/json.ts';
import type { DecisionDocument } from '../contract/document.ts';

/** Who has not allowed it, and why, in one sentence for an agent's user. */
export function reasonOf({ hook, reason, result, verdict }: DecisionDocument): string {
  // What people have decided, or not yet, is no word of a hook.
  if (hook === null && reason !== '') return reason;
  const by = hook === null ? 'a person' : `"${hook}"`;
  const said = reason === '' ? `${by} has not allowed it` : `${by}: ${reason}`;
  // Nobody but the tool can give its result; what was answered in its place is told.
  return verdict === 'respond' && typeof result === 'string' ? `${by} answers in its place: ${result}` : said;
}

/** The newest text as the hooks have changed it; undefined where they changed another part. */
export function changedText({ replace }: DecisionDocument): string | undefined {
  const messages: unknown = replace?.['messages'];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : replace?.['message'];
  return isObject(last) && typeof last['content'] === 'string' ? last['content'] : undefined;
}
