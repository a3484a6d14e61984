import { RuntimeError } from '../../../base/errors.ts';
import { toShellLine } from '../../../base/files/shell-line.ts';
import { isObject } from '../../../base/json/json.ts';
import { tryParseLossless } from '../../../base/json/parse.ts';
import type { DecisionDocument } from '../../../contract/document.ts';
import type {
  DecisionTime,
  Inbound,
  InboundEvent,
  InboundQuestion,
  InboundReply,
  Told,
  WayToResident,
} from '../../inbound.ts';
import {
  afterAnswer,
  afterExecution,
  beforeExecution,
  beforePrompt,
  changedText,
  contentOf,
  ofSession,
  reasonOf,
  textAt,
  toTimeLimit,
} from '../../inbound.ts';
import { claudeEvents } from '../config/settings.ts';
import { allToolNames } from '../tool-names.ts';
import { fitsResultType, withholdResult } from './withheld.ts';

/** Answers Claude Code's hook calls. Source: the hooks reference (code.claude.com/docs/en/hooks). */
export const inbound: Inbound = {
  read,
  // Of whichever event: exit code 2 alone would pass a result to the model.
  unreadable: ({ message: reason }) => ({
    exitCode: 2,
    document: { decision: 'block', reason, continue: false, stopReason: reason },
    stderr: reason,
  }),
  settingsFor,
};

const known: ReadonlySet<string> = new Set(claudeEvents);

function read(told: Told): InboundQuestion {
  const name = told['hook_event_name'];
  if (typeof name !== 'string')
    throw new RuntimeError(
      'EVENT_INVALID',
      'stdin has no hook_event_name: Claude Code runs this command as a hook',
      {
        hint: '`signalbox hook export --dialect claude` prints the settings for it.',
      },
    );
  if (!known.has(name))
    throw new RuntimeError('EVENT_INVALID', `this Signalbox does not know the event ${name}`, {
      hint: 'Take it out of the settings, or use a newer Signalbox.',
    });
  return {
    events: toInboundEvents(name, told),
    toReply: (decision: DecisionDocument, event: InboundEvent) =>
      name === 'PostToolBatch' ? toBatchReply(decision, event) : toReply(name, told, decision),
    toFailure: ({ message }) => denial(name, told, message),
  };
}

/** Empty for events that carry nothing of a model or a tool. */
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

export function settingsFor(
  words: readonly string[],
  phases: ReadonlySet<string>,
  time: DecisionTime,
  { lineOf, http }: WayToResident = {},
): string {
  const { seconds, within, option } = toTimeLimit(time);
  // `onFailure` blocks if the hook cannot start or be reached, or is killed, in versions that know it. Signalbox denies
  // before the timeout.
  const limits = { timeout: seconds, onFailure: 'block' };
  const plain = toShellLine([...words, ...option]);
  const handlerOf = (event: string) => ({
    type: 'command',
    command: lineOf?.(words, within, reported.has(event)) ?? plain,
    ...limits,
  });
  const posted = http && {
    type: 'http',
    url: `${http.url}?answer-within=${within}`,
    headers: { Authorization: `Bearer \${${http.tokenVariable}}` },
    allowedEnvVars: [http.tokenVariable],
    ...limits,
  };
  const hooks = Object.entries(moments)
    .filter(([, phase]) => phases.has(phase))
    .map(([event]) => {
      const hook = posted === undefined || commandsOnly.has(event) ? handlerOf(event) : posted;
      return [event, [{ ...(hasTools.has(event) && { matcher: '*' }), hooks: [hook] }]];
    });
  return JSON.stringify({ hooks: Object.fromEntries(hooks) }, null, 2);
}

/** Events that cannot be denied, or only once: a denial is exit code 1, a message for the person. */
const reported = new Set(['SessionStart', 'SessionEnd', 'Stop', 'SubagentStop']);

/** Events that Claude Code does not post, or is not known to. */
const commandsOnly = new Set(['SessionStart', 'PreSkillShellCommand']);

const hasTools = new Set(['PreToolUse', 'PreSkillShellCommand', 'PostToolUse', 'PostToolUseFailure']);

const moments: Readonly<Record<string, string>> = {
  SessionStart: 'session session_start',
  UserPromptSubmit: 'provider before_call',
  PreToolUse: 'tool before_execution',
  PreSkillShellCommand: 'tool before_execution',
  PostToolUse: 'tool after_execution',
  PostToolUseFailure: 'tool after_execution',
  PostToolBatch: 'tool after_execution',
  Stop: 'provider after_call',
  SubagentStop: 'provider after_call',
  SessionEnd: 'session session_end',
};

export function toReply(name: string, told: Told, decision: DecisionDocument): InboundReply {
  const { verdict } = decision;
  const reason = reasonOf(decision);
  if (verdict === 'allow') return withContext(name, decision, {});
  if (verdict === 'modify') return modified(name, told, decision);
  if (verdict === 'ask' && (name === 'PreToolUse' || name === 'PreSkillShellCommand'))
    return withContext(name, decision, { permissionDecision: 'ask', permissionDecisionReason: reason });
  const denied = denial(name, told, reason);
  if (verdict !== 'abort') return denied;
  return { ...denied, document: { ...denied.document, continue: false, stopReason: reason } };
}

/**
 * Decides about a result as the model is about to read it. Hooks could not withhold it before: the call failed, or
 * Claude Code dropped the replacement. So a denial or change ends the turn.
 */
export function toBatchReply(decision: DecisionDocument, event: InboundEvent): InboundReply {
  const content = contentOfResult(event);
  const reason = reasonOf(decision);
  const isSame = decision.verdict === 'modify' && decision.replace?.['content'] === content;
  if (decision.verdict === 'allow' || isSame || isWithheld(content, reason))
    return { exitCode: 0, stderr: '' };
  const why = decision.verdict === 'modify' ? `${reason}. It cannot be changed here.` : reason;
  return denial('PostToolBatch', {}, why);
}

function contentOfResult({ response }: InboundEvent): string {
  const content = isObject(response) ? response['content'] : undefined;
  return typeof content === 'string' ? content : '';
}

function isWithheld(content: string, reason: string): boolean {
  const text = withheldText(reason);
  const rest = content.replaceAll(text, '').replaceAll(/^\s*\d+(?=[\t→])/gm, '');
  return content.includes(text) && !/[\p{L}\p{N}]/u.test(rest.replaceAll('0', ''));
}

/** Adds no decision to `fields`, so that Claude Code still asks where it would ask. */
function withContext(
  name: string,
  { context }: DecisionDocument,
  fields: Readonly<Record<string, unknown>>,
): InboundReply {
  const all = {
    ...fields,
    ...(context.length > 0 && takesContext.has(name) && { additionalContext: context.join('\n\n') }),
  };
  const isEmpty = Object.keys(all).length === 0;
  return { exitCode: 0, document: isEmpty ? undefined : output(name, all), stderr: '' };
}

const takesContext = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'SessionStart',
]);

function modified(name: string, told: Told, decision: DecisionDocument): InboundReply {
  const { replace } = decision;
  if (name === 'PreToolUse' && isObject(replace?.['args'])) {
    const reason = decision.reason === '' ? `"${decision.hook}" has changed the call` : reasonOf(decision);
    // A changed call needs a decision to count. `allow` would skip the question that the user may need to answer.
    const asked = { permissionDecision: 'ask', permissionDecisionReason: reason };
    return withContext(name, decision, { ...asked, updatedInput: replace['args'] });
  }
  const content = replace?.['content'];
  if (name === 'PostToolUse' && typeof content === 'string') return withResult(name, told, decision, content);
  return denial(name, told, `${reasonOf(decision)}. ${cannotChange(name, decision)}`);
}

function withResult(name: string, told: Told, decision: DecisionDocument, content: string): InboundReply {
  const before = told['tool_response'];
  if (content === contentOf(before)) return withContext(name, decision, {});
  const result = typeof before === 'string' ? content : tryParseLossless(content);
  const tool = textAt(told, 'tool_name');
  const breaksType = fitsResultType(tool, before) && !fitsResultType(tool, result);
  if (!isAlike(before, result) || breaksType)
    return denial(name, told, `${reasonOf(decision)}, and what it left has another form than the result`);
  return { exitCode: 0, document: replaced(name, told, result), stderr: '' };
}

function isAlike(one: unknown, other: unknown): boolean {
  return (
    typeof one === typeof other &&
    Array.isArray(one) === Array.isArray(other) &&
    isObject(one) === isObject(other)
  );
}

function cannotChange(name: string, decision: DecisionDocument): string {
  const text = changedText(decision);
  const what = name === 'UserPromptSubmit' ? 'Send this in its place' : 'It would have been';
  return text === undefined ? 'It cannot be changed here.' : `${what}: ${text}`;
}

/** Denies if the event can be stopped. Otherwise only gives the reason on stderr. */
export function denial(name: string, told: Told, reason: string): InboundReply {
  switch (name) {
    case 'PreToolUse':
    case 'PreSkillShellCommand':
      // Versions before August 2026 read JSON on exit 0 only. Exit 2 with the reason on stderr blocks in all of them.
      return {
        exitCode: 2,
        document: output(name, { permissionDecision: 'deny', permissionDecisionReason: reason }),
        stderr: reason,
      };
    case 'UserPromptSubmit':
      return { exitCode: 2, document: { decision: 'block', reason }, stderr: reason };
    case 'PostToolUse':
      // In those versions, exit 2 would pass the result to the model with the reason beside it.
      return { exitCode: 0, document: withheldResult(told, reason), stderr: '' };
    case 'PostToolUseFailure':
      // The error cannot be replaced. PostToolBatch, which comes next, ends the turn before the model reads it.
      return { exitCode: 0, document: { decision: 'block', reason }, stderr: '' };
    case 'PostToolBatch':
      return { exitCode: 0, document: { decision: 'block', reason, stopReason: reason }, stderr: '' };
    case 'Stop':
    case 'SubagentStop':
      // Blocks only once; a second time could repeat for ever.
      if (told['stop_hook_active'] === true) return { exitCode: 1, stderr: reason };
      return { exitCode: 0, document: { decision: 'block', reason }, stderr: '' };
    default:
      return { exitCode: 1, stderr: reason };
  }
}

export function output(name: string, fields: Readonly<Record<string, unknown>>) {
  return { hookSpecificOutput: { hookEventName: name, ...fields } };
}

export function replaced(name: string, told: Told, result: unknown) {
  const isMcp = textAt(told, 'tool_name').startsWith('mcp__');
  return output(name, { updatedToolOutput: result, ...(isMcp && { updatedMCPToolOutput: result }) });
}

export function withheldText(reason: string): string {
  return `[withheld: ${reason}]`;
}

function withheldResult(told: Told, reason: string) {
  const text = withheldText(reason);
  const given = withholdResult(textAt(told, 'tool_name'), told['tool_response'], text);
  if (given !== undefined)
    return { decision: 'block', reason, ...replaced('PostToolUse', told, given.result) };
  // The result's expected form is unknown, and Claude Code would ignore a wrong form and keep the original. So the turn
  // ends.
  return {
    decision: 'block',
    reason,
    continue: false,
    stopReason: reason,
    ...replaced('PostToolUse', told, text),
  };
}
