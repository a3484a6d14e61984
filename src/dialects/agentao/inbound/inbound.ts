import { RuntimeError } from '../../../base/errors.ts';
import { toShellLine } from '../../../base/files/shell-line.ts';
import { isObject } from '../../../base/json/json.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type {
  DecisionTime,
  Inbound,
  InboundEvent,
  InboundQuestion,
  InboundReply,
  Told,
} from '../../inbound.ts';
import {
  afterAnswer,
  afterExecution,
  beforeExecution,
  beforePrompt,
  changedText,
  ofSession,
  reasonOf,
  textAt,
  toTimeLimit,
} from '../../inbound.ts';
import { agentaoEvents } from '../config/settings.ts';
import { allToolNames } from '../points.ts';

export const inbound: Inbound = { read, unreadable, settingsFor };

/** The event is unknown, so the reply denies at every event. */
function unreadable({ message }: RuntimeError): InboundReply {
  return { ...denial('PreToolUse', message), stderr: message };
}

function read(told: Told): InboundQuestion {
  const name = told['event'] ?? told['hook_event_name'];
  if (typeof name !== 'string')
    throw new RuntimeError('EVENT_INVALID', 'stdin has no event: Agentao runs this command as a hook', {
      hint: '`signalbox hook export --dialect agentao` prints the hooks.json for it.',
    });
  const fields = { ...told, ...(isObject(told['data']) && told['data']) };
  if (!agentaoEvents.some((event) => event === name))
    throw new RuntimeError('EVENT_INVALID', `this Signalbox does not know the event ${name}`, {
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

export function toReply(name: string, decision: DecisionDocument): InboundReply {
  const { verdict, context } = decision;
  const reason = reasonOf(decision);
  if (verdict === 'allow')
    return document(context.length > 0 && takesContext.has(name) ? { additionalContext: context } : {});
  if (verdict === 'modify') return denial(name, `${reason}. ${cannotChange(name, decision)}`);
  if (verdict === 'ask' && name === 'PreToolUse') return document(permission('ask', reason));
  return denial(name, reason);
}

/** Agentao ignores the contexts of other events, or reads them from the answer itself. */
const takesContext = new Set(['UserPromptSubmit', 'PreToolUse']);

/**
 * Denies in the form that Agentao honours at this event. The exit code is always 0: Agentao treats any other as a
 * failed hook and continues. After a Stop, exit code 2 would start another model call.
 */
export function denial(name: string, reason: string): InboundReply {
  if (name === 'PreToolUse') return document({ ...permission('deny', reason), blockingError: reason });
  return document({ blockingError: reason });
}

function permission(permissionDecision: 'ask' | 'deny', permissionDecisionReason: string) {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

function document(fields: Readonly<Record<string, unknown>>): InboundReply {
  return { exitCode: 0, document: Object.keys(fields).length === 0 ? undefined : fields, stderr: '' };
}

/** Agentao accepts no changed text, call or result. The reason quotes the change if it is a text. */
function cannotChange(name: string, decision: DecisionDocument): string {
  const text = changedText(decision);
  if (name === 'UserPromptSubmit' && text !== undefined) return `Send this in its place: ${text}`;
  return 'Agentao cannot change it.';
}

export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  time: DecisionTime,
): string {
  const { seconds, option } = toTimeLimit(time);
  const rule = { type: 'command', command: toShellLine([...words, ...option]), timeout: seconds };
  const hooks = Object.entries(moments).flatMap(([event, phase]) =>
    phases.has(phase) ? [[event, [rule]] as const] : [],
  );
  return JSON.stringify({ hooks: Object.fromEntries(hooks) }, null, 2);
}

const moments: Readonly<Record<string, string>> = {
  SessionStart: 'session session_start',
  UserPromptSubmit: 'provider before_call',
  PreToolUse: 'tool before_execution',
  PostToolUse: 'tool after_execution',
  PostToolUseFailure: 'tool after_execution',
  Stop: 'provider after_call',
  SessionEnd: 'session session_end',
};
