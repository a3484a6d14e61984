import { RuntimeError } from '../../../errors.ts';
import type { InboundEvent, Told } from '../../../inbound/inbound.ts';
import {
  afterAnswer,
  afterExecution,
  beforeExecution,
  beforePrompt,
  contentOf,
  ofSession,
  textAt,
} from '../../../inbound/native-event.ts';
import { isObject } from '../../../json/json.ts';
import { allToolNames } from '../tool-names.ts';

/** What native hooks are asked at an event; nothing at those where nothing of a model or a tool passes. */
export function toInboundEvents(name: string, told: Told): readonly InboundEvent[] {
  if (name !== 'PostToolBatch') return [events[name]?.(told) ?? []].flat();
  const calls: unknown = told['tool_calls'];
  if (!Array.isArray(calls) || !calls.every(isObject))
    throw new RuntimeError('EVENT_INVALID', 'PostToolBatch has no `tool_calls` that can be judged');
  return calls.map((call) => afterExecution(callOf(call), { content: contentOf(call['tool_response']) }));
}

const answered = (told: Told) => afterAnswer('claude', textAt(told, 'last_assistant_message'));
const beforeCall = (told: Told) => beforeExecution(callOf(told), callerOf(told));

const events: Readonly<Record<string, (told: Told) => InboundEvent>> = {
  PreToolUse: beforeCall,
  PreSkillShellCommand: beforeCall,
  PostToolUse: (told) =>
    afterExecution(callOf(told), { content: contentOf(told['tool_response']) }, told['duration_ms']),
  PostToolUseFailure: (told) =>
    afterExecution(callOf(told), { error: textAt(told, 'error') }, told['duration_ms']),
  UserPromptSubmit: (told) => beforePrompt('claude', textAt(told, 'prompt')),
  Stop: answered,
  SubagentStop: answered,
  SessionStart: (told) => ofSession('session_start', textAt(told, 'session_id')),
  SessionEnd: (told) => ofSession('session_end', textAt(told, 'session_id')),
};

function callerOf(told: Told) {
  return { agent: 'claude', session: textAt(told, 'session_id'), cwd: textAt(told, 'cwd') };
}

function callOf(told: Told) {
  const { tool_name: name, tool_input: args } = told;
  return {
    name,
    args: args ?? {},
    call_id: textAt(told, 'tool_use_id'),
    aliases: allToolNames(textAt(told, 'tool_name')),
  };
}
