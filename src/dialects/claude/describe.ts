import type { HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { FinishedCall, HookContext } from '../../contract/turn.ts';
import { type Fault, RuntimeError } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { markFileTool } from './condition/file-tool.ts';

/** The event fields of a payload; what every payload has is added when it is sent. */
export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  switch (event.phase) {
    case 'session_start':
      return { source: hookContext.isResumed ? 'resume' : 'startup' };
    case 'session_end':
      return { reason: 'other' };
    case 'prompt':
      return { prompt: event.turn.prompt };
    case 'before_execution':
      return { ...describeTool(event.request), tool_use_id: idOf(event.request) };
    case 'approval':
      return describeTool(event.request);
    case 'after_execution':
      return describeResult(event);
    case 'pending':
      return { message: event.message, notification_type: 'permission_prompt', pending_id: event.id };
    case 'batch':
      return { tool_calls: event.calls.map(describeCall) };
    case 'stop':
      return describeStop(event.response, hookContext);
    case 'error':
      return { error: errorKind(event.error), error_details: event.error.message };
    default:
      throw new RuntimeError('INTERNAL', `claude has no ${point} at ${event.phase}`);
  }
}

/** The id of the call in the conversation, else the id of the call. */
function idOf({ tool_use_id, call_id }: ToolHookRequest): string {
  return tool_use_id ?? call_id;
}

function describeTool({
  name,
  args,
  aliases = [],
}: Pick<ToolHookRequest, 'name' | 'args' | 'aliases'>): Payload {
  return markFileTool({ tool_name: toolNameForHooks(name, aliases), tool_input: Json.from(args) }, aliases);
}

/** The tool name in payloads and matchers: the first alias, else its own name. */
export function toolNameForHooks(name: string, aliases: readonly string[] = []): string {
  return aliases[0] ?? name;
}

function describeResult({ request, response }: Extract<HookEvent, { phase: 'after_execution' }>): Payload {
  const call = describeTool(request);
  const { error, content, result, latency_ms: duration_ms } = response;
  const callMembers = { tool_use_id: idOf(request), duration_ms };
  if (error !== '') return { ...call, error, ...callMembers };
  return { ...call, tool_response: result ?? content, ...callMembers };
}

function describeCall({ name, aliases, args, call_id, content }: FinishedCall): Payload {
  return { ...describeTool({ name, aliases, args }), tool_use_id: call_id, tool_response: content };
}

function describeStop(response: string, hookContext: HookContext): Payload {
  return {
    stop_hook_active: hookContext.forcedTurns > 0,
    last_assistant_message: response,
    background_tasks: [],
    session_crons: [],
  };
}

function errorKind({ details }: Fault): string {
  const status = details?.['status'];
  if (typeof status !== 'number') return 'unknown';
  if (Object.hasOwn(errorKinds, status)) return errorKinds[status] ?? 'unknown';
  return status >= 500 ? 'server_error' : 'unknown';
}

/** Source: the HTTP errors of the Claude API. */
const errorKinds: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication_failed',
  402: 'billing_error',
  403: 'authentication_failed',
  404: 'model_not_found',
  413: 'invalid_request',
  422: 'invalid_request',
  429: 'rate_limit',
  503: 'overloaded',
  529: 'overloaded',
};
