import { RuntimeError } from '../../../errors.ts';
import type { Inbound, InboundEvent, InboundQuestion, InboundReply, Told } from '../../../inbound/inbound.ts';
import {
  afterAnswer,
  afterExecution,
  beforeExecution,
  beforePrompt,
  ofSession,
  textAt,
} from '../../../inbound/native-event.ts';
import { isObject } from '../../../json/json.ts';
import { agentaoEvents } from '../config/events.ts';
import { allToolNames } from '../tool-names.ts';
import { denial, toReply } from './reply.ts';
import { settingsFor } from './settings.ts';

/** Agentao asks, by the payloads of its developer guide, chapter 5.7, and of its code. */
export const inbound: Inbound = { read, unreadable, settingsFor };

/** It is not known which event it was: what denies at all of them. */
function unreadable({ message }: RuntimeError): InboundReply {
  return { ...denial('PreToolUse', message), stderr: message };
}

function read(told: Told): InboundQuestion {
  const name = told['event'] ?? told['hook_event_name'];
  if (typeof name !== 'string')
    throw new RuntimeError('EVENT_INVALID', 'stdin has no event: this is what Agentao runs as a hook', {
      hint: '`signalbox hook export --dialect agentao` prints the hooks.json by which it does.',
    });
  const fields = { ...told, ...(isObject(told['data']) && told['data']) };
  if (!agentaoEvents.some((event) => event === name))
    throw new RuntimeError('EVENT_INVALID', `the event ${name} is none that this Signalbox knows`, {
      hint: 'Take it out of hooks.json, or use a newer Signalbox.',
    });
  return {
    events: [events[name]?.(fields) ?? []].flat(),
    toReply: (decision) => toReply(name, decision),
    toFailure: ({ message }) => denial(name, message),
  };
}

const events: Readonly<Record<string, (fields: Told) => InboundEvent>> = {
  PreToolUse: (fields) => beforeExecution(callOf(fields), callerOf(fields)),
  PostToolUse: (fields) => afterExecution(callOf(fields), { content: textAt(fields, 'toolOutput') }),
  PostToolUseFailure: (fields) => afterExecution(callOf(fields), { error: textAt(fields, 'error') }),
  UserPromptSubmit: (fields) => beforePrompt('agentao', textAt(fields, 'userMessage')),
  Stop: (fields) => afterAnswer('agentao', textAt(fields, 'last_assistant_message')),
  SessionStart: (fields) => ofSession('session_start', textAt(fields, 'sessionId')),
  SessionEnd: (fields) => ofSession('session_end', textAt(fields, 'sessionId')),
};

function callerOf(fields: Told) {
  const session = textAt(fields, 'sessionId') || textAt(fields, 'session_id');
  return { agent: 'agentao', session, cwd: textAt(fields, 'cwd') };
}

function callOf(fields: Told) {
  return {
    name: fields['toolName'],
    args: fields['toolInput'] ?? {},
    call_id: textAt(fields, 'tool_use_id'),
    aliases: allToolNames(textAt(fields, 'toolName')),
  };
}
