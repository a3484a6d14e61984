import type { Message } from '../../contract/exchange.ts';
import { isObject, Json, stringifyJson } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { dataOf, outerMembersOf, toolNameIn } from './envelope.ts';
import { isFlat, type PointName, requirePoint } from './points.ts';
import { toPythonJson } from './python/dumps.ts';

/**
 * What a rule reads on stdin: Agentao's envelope and, beside it, the members that a Claude Code handler looks for;
 * Stop and PreCompact are flat in both systems. Written as Python writes it, since scripts grep it. Source: developer
 * guide, chapter 5.7, and `_run_subprocess` of agentao/plugins/hooks/_dispatcher.py.
 */
export function encode({ cwd }: HookEntry<AgentaoSettings>, question: Question): Message {
  const point = requirePoint(question.point);
  const payload = isFlat(point) ? flatOf(cwd, question) : envelopeOf(point, cwd, question);
  return { method: point, body: toPythonJson(stringifyJson(payload)), terminator: '' };
}

function flatOf(cwd: string, { point, payload, hookContext }: Question): Payload {
  const { session_id, transcript } = hookContext;
  const permission_mode = 'workspace-write';
  const common = { hook_event_name: point, session_id, transcript_path: transcript, cwd, permission_mode };
  return { ...common, ...payload, hook_event_name: point };
}

function envelopeOf(point: PointName, cwd: string, question: Question): Payload {
  const { payload } = question;
  const given = dataOf(payload);
  const cwdMember = { cwd: textAt(given, 'cwd') ?? cwd };
  const isAboutTool = point === 'PreToolUse' || point === 'PostToolUse' || point === 'PostToolUseFailure';
  const data = isAboutTool ? given : { ...given, ...cwdMember };
  const session_id = textAt(given, 'sessionId') ?? question.hookContext.session_id;
  const common = flatOf(cwdMember.cwd, { ...question, payload: { session_id } });
  return { event: point, data, ...common, ...ownMembers(point, question), ...outerMembersOf(payload) };
}

/** The members that only this event has in Claude Code. */
function ownMembers(point: PointName, { payload, hookContext }: Question): Payload {
  const data = dataOf(payload);
  switch (point) {
    case 'UserPromptSubmit':
      return { prompt: data['userMessage'] };
    case 'SessionStart':
      return { source: hookContext.isResumed ? 'resume' : 'startup' };
    case 'SessionEnd':
      return { reason: 'other' };
    case 'PreToolUse':
      return callMembers(payload);
    case 'PostToolUse':
      return { ...callMembers(payload), tool_response: responseOf(textAt(data, 'toolOutput') ?? '') };
    case 'PostToolUseFailure':
      return { ...callMembers(payload), error: payload['error'] };
    case 'Stop':
    case 'PreCompact':
      return {};
  }
}

function callMembers(payload: Payload): Payload {
  const tool_name = toolNameIn(payload);
  const tool_input = withFilePath(tool_name, Json.from(dataOf(payload)['toolInput'] ?? {}));
  return { tool_name, tool_input, tool_use_id: payload['tool_use_id'] ?? '' };
}

const fileTools: readonly string[] = ['Read', 'Write', 'Edit'];

/** Claude's tools for files have their path under another name. */
function withFilePath(tool: string, input: Json): Json {
  if (!fileTools.includes(tool) || !isObject(input.value)) return input;
  const members = scanMembers(input.text);
  const path = memberOf(input.text, members, 'path');
  if (path === undefined || members.some(({ key }) => key === 'file_path')) return input;
  return new Json(`${input.text.slice(0, input.text.lastIndexOf('}'))},"file_path":${path.text}}`);
}

/** A structured result as it is, a text as a string. */
function responseOf(output: string): unknown {
  try {
    const json = new Json(output.trim());
    return typeof json.value === 'object' && json.value !== null ? json : output;
  } catch {
    return output;
  }
}
