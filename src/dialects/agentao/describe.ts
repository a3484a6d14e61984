import type { HookEvent, Moment, ToolHookRequest } from '../../contract/hook.ts';
import type { Scene } from '../../contract/turn.ts';
import { RuntimeError } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import { namesOf, toldNameOf } from './aliases.ts';
import type { PointName } from './points.ts';
import { plain } from './tree.ts';

const pointOfMoment: Partial<Readonly<Record<Moment, PointName>>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_execution: 'PreToolUse',
  after_execution: 'PostToolUse',
  stop: 'Stop',
};

/** The event of Agentao that an event of a pipeline is; nothing fires for a tool that does not exist. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  const isOfCall = event.phase === 'before_execution' || event.phase === 'after_execution';
  if (isOfCall && event.request.isUnknown === true) return [];
  if (event.phase === 'after_execution' && event.response.error !== '') return ['PostToolUseFailure'];
  const point = pointOfMoment[event.phase];
  return point === undefined ? [] : [point];
}

/** The payload of a pipeline's event: what Agentao's envelope holds, or the flat members, and what else is known. */
export function describe(point: string, event: HookEvent, { session_id: sessionId, stops }: Scene): Payload {
  switch (event.phase) {
    case 'session_start':
    case 'session_end':
      return { data: { sessionId } };
    case 'prompt':
      return { data: { userMessage: event.turn.prompt, sessionId } };
    case 'before_execution':
      return describeCall(event.request, sessionId);
    case 'after_execution':
      return describeResult(event, sessionId);
    case 'stop':
      return {
        stop_hook_active: stops > 0,
        last_assistant_message: answerOf(event),
        turn_end_reason: event.end,
        at_max_iter: event.end === 'max_iterations',
      };
    default:
      throw new RuntimeError('INTERNAL', `agentao hears nothing of ${event.phase} at ${point}`);
  }
}

/** What Agentao puts in the place of an answer without text. Source: agentao/runtime/chat_loop/_runner.py. */
function answerOf({ response, end, turn }: HookEvent & { readonly phase: 'stop' }): string {
  if (end === 'max_iterations') return response === '' ? 'Maximum tool call iterations reached.' : response;
  if (response.trim() !== '') return response;
  const reasoning = plain(turn.messages.findLast(({ role }) => role === 'assistant')?.['reasoning']);
  return typeof reasoning === 'string' && reasoning !== '' ? '[No text response]' : '[No response]';
}

function describeCall(
  { name, aliases, args, call_id, tool_use_id = call_id }: ToolHookRequest,
  sessionId: string,
) {
  const data = { toolName: toldNameOf(name, aliases), toolInput: Json.from(args), sessionId };
  return { data, names: namesOf(name, aliases), tool_use_id };
}

function describeResult(
  event: HookEvent & { readonly phase: 'after_execution' },
  sessionId: string,
): Payload {
  const { content, error } = event.response;
  const { data, ...about } = describeCall(event.request, sessionId);
  if (error === '') return { data: { ...data, toolOutput: content }, ...about };
  return { data: { ...data, error: shortError(error) }, ...about, error };
}

/** Agentao tells the first 200 characters of an error. */
export function shortError(error: string): string {
  return Array.from(error).slice(0, 200).join('');
}
