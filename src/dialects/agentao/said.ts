import { type Answer, answers } from '../../contract/hook.ts';
import { isObject, Json, parseLossless } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';

/** What one rule said, in the words of Agentao's results; the answers of all rules are added up from these. */
export interface Said {
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

/** The metadata of an answer: what was said, and what stands in for the text that was blocked. */
export function metadataOf(said: Said): Json {
  return Json.from({ agentao: said });
}

/** A denial that carries its marker. */
export function blocked(
  marker: Marker,
  reason: string,
  { said, context = [] }: { readonly said?: Said; readonly context?: readonly string[] },
): Answer {
  const metadata = Json.from({ replacement: `${marker} ${reason}`, ...(said && { agentao: said }) });
  return answers.deny(reason, { metadata, context });
}

/** The answer with what was said beside the metadata that it has. */
export function remember(answer: Answer, said: Said): Answer {
  return { ...answer, metadata: Json.from({ ...membersOf(answer.metadata), agentao: said }) };
}

/** What an answer's metadata keeps of what was said; numbers keep their digits. */
export function saidIn({ metadata }: Answer): Payload {
  const { agentao } = membersOf(metadata);
  return isObject(agentao) ? agentao : {};
}

function membersOf(metadata: Json): Payload {
  const members = parseLossless(metadata.text);
  return isObject(members) ? members : {};
}
