import type { HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import { RuntimeError } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { toPlainValue } from '../payload.ts';
import { allToolNames, toolNameForHooks } from './tool-names.ts';

/**
 * The payload for a pipeline event: the envelope's `data` or the flat members, and values for the encoder.
 */
export function describe(
  point: string,
  event: HookEvent,
  { session_id: sessionId, forcedTurns }: HookContext,
): Payload {
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
        stop_hook_active: forcedTurns > 0,
        last_assistant_message: assistantMessageOf(event),
        turn_end_reason: event.end,
        at_max_iter: event.end === 'max_iterations',
      };
    default:
      throw new RuntimeError('INTERNAL', `agentao hears nothing of ${event.phase} at ${point}`);
  }
}

/**
 * The last answer of the model, or Agentao's stock text for an empty one. Source:
 * agentao/runtime/chat_loop/_runner.py.
 */
function assistantMessageOf({ response, end, turn }: HookEvent & { readonly phase: 'stop' }): string {
  if (end === 'max_iterations') return response === '' ? 'Maximum tool call iterations reached.' : response;
  if (response.trim() !== '') return response;
  const reasoning = toPlainValue(turn.messages.findLast(({ role }) => role === 'assistant')?.['reasoning']);
  return typeof reasoning === 'string' && reasoning !== '' ? '[No text response]' : '[No response]';
}

function describeCall(
  { name, aliases, args, call_id, tool_use_id = call_id }: ToolHookRequest,
  sessionId: string,
) {
  const data = { toolName: toolNameForHooks(name, aliases), toolInput: Json.from(args), sessionId };
  return { data, names: allToolNames(name, aliases), tool_use_id };
}

function describeResult(
  event: HookEvent & { readonly phase: 'after_execution' },
  sessionId: string,
): Payload {
  const { content, error } = event.response;
  const { data, ...callMembers } = describeCall(event.request, sessionId);
  if (error === '') return { data: { ...data, toolOutput: content }, ...callMembers };
  return { data: { ...data, error: shortError(error) }, ...callMembers, error };
}

/** The first 200 characters of an error, as Agentao sends it. */
export function shortError(error: string): string {
  return Array.from(error).slice(0, 200).join('');
}
