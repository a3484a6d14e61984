import { type Answer, answers } from '../../contract/hook.ts';
import { isObject, Json, parseLossless } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';

/** The result of one rule with Agentao's member names; the results of all rules are aggregated from these. */
export interface RuleResult {
  readonly additional_contexts?: readonly string[];
  readonly messages?: readonly Payload[];
  readonly blocking_error?: string;
  readonly prevent_continuation?: true;
  readonly stop_reason?: string | undefined;
  readonly force_continue?: true;
  readonly follow_up_message?: string;
  readonly suppress_output?: true | undefined;
  readonly system_message?: string | undefined;
}

/** The marker that Agentao shows in the place of what was blocked. */
export type Marker = '[Blocked by hook]' | '[Hook stopped]' | '[Blocked by Stop hook]';

/** The metadata of an answer with that rule result. */
export function metadataOf(result: RuleResult): Json {
  return Json.from({ agentao: result });
}

/** A denial whose metadata has a replacement text with that marker, and the rule result if given. */
export function denyWithMarker(
  marker: Marker,
  reason: string,
  { said: result, context = [] }: { readonly said?: RuleResult; readonly context?: readonly string[] },
): Answer {
  const metadata = Json.from({ replacement: `${marker} ${reason}`, ...(result && { agentao: result }) });
  return answers.deny(reason, { metadata, context });
}

/** The answer with the rule result added to its metadata. */
export function withRuleResult(answer: Answer, result: RuleResult): Answer {
  return { ...answer, metadata: Json.from({ ...membersOf(answer.metadata), agentao: result }) };
}

/** The rule result in an answer's metadata; numbers keep their digits. */
export function ruleResultIn({ metadata }: Answer): Payload {
  const { agentao } = membersOf(metadata);
  return isObject(agentao) ? agentao : {};
}

function membersOf(metadata: Json): Payload {
  const members = parseLossless(metadata.text);
  return isObject(members) ? members : {};
}
