import { createHash } from 'node:crypto';
import { stringifyJson } from '../../json/json.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import type { AgentaoSettings } from './config/settings.ts';

export type AttachmentType =
  | 'hook_additional_context'
  | 'hook_success'
  | 'hook_stopped_continuation'
  | 'hook_blocking_error';

/** A rule and the question put to it. */
export interface HookQuestion {
  readonly entry: HookEntry<AgentaoSettings>;
  readonly question: Question;
}

/** Agentao's attachment record: what one rule did. The same event at the same moment has the same `uuid`. */
export function attach({ entry, question }: HookQuestion, type: AttachmentType, payload: unknown): Payload {
  const { point, hookContext } = question;
  const { command, prompt } = entry.settings;
  const record = {
    attachment_type: type,
    payload,
    hook_name: prompt === undefined ? (command ?? entry.name) : 'prompt_hook',
    hook_event: point,
    tool_use_id: '',
  };
  const { session_id, turn_id, round, forcedTurns, now } = hookContext;
  const about = [entry.name, question.payload, session_id, turn_id, round, forcedTurns, now];
  return { ...record, uuid: toUuid(stringifyJson([record, about])), timestamp: now };
}

/** Version 8 of RFC 9562: a digest in the form of a UUID. */
function toUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
