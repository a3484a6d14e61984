import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { CallEvent, HookEvent, NativeEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import { permissionFor } from './permission.ts';
import { contextMembersOf, requirePoint } from './points.ts';
import { describeBody } from './request/neutral-request.ts';

/** A point's payload for an event of a pipeline; what only the plugin's entry knows is added when it is encoded. */
export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  return { ...describeEvent(point, event), ...contextMembersOf(requirePoint(point).fields, hookContext) };
}

function describeEvent(point: string, event: HookEvent): Payload {
  switch (event.phase) {
    case 'session_start':
    case 'session_end':
    case 'system_prompt':
      return {};
    case 'prompt':
      return { prompt: event.turn.prompt };
    case 'tool_list':
      return { tools: event.turn.tools.map(({ name, category }) => ({ name, type: category ?? 'plugin' })) };
    case 'request':
      return { request_body: describeBody(event.turn) };
    case 'loop':
      return { message: event.turn.prompt };
    case 'batch':
      return { tool_calls: event.calls.map(({ name, args }) => ({ name, arguments: args })) };
    case 'answered': {
      const { turn, original_prompt, response } = event;
      return { prompt: turn.prompt, original_prompt, response };
    }
    case 'before_execution':
      return callOf(event.request);
    case 'approval': {
      const permission = permissionFor(event.request);
      if (permission?.point === point) return permission.payload;
      break;
    }
    case 'after_execution':
      return { ...callOf(event.request), output: outputOf(event) };
    case 'blocked': {
      const { stage = 'before_execution' } = event;
      return { ...callOf(event.request), output: denialTextOf({ ...event, stage }) };
    }
    case 'finished':
    case 'returned':
      return describeFinished(point, event);
  }
  throw new RuntimeError('INTERNAL', `chibi's ${point} does not hear of ${event.phase}`);
}

function callOf({ name, args }: ToolHookRequest) {
  const json = Json.from(args);
  return { tool_name: name, arguments: isObject(json.value) ? json : {} };
}

type AfterExecution = Extract<NativeEvent, { phase: 'after_execution' }>;
type Finished = Extract<CallEvent, { phase: 'finished' | 'returned' }>;
type Blocked = Extract<CallEvent, { phase: 'blocked' }>;

/** The output of a call; a failure as `Error: …`, unless a hook has replaced its text. */
function outputOf({ response: { content, error } }: AfterExecution | Finished): string {
  return error !== '' && content.includes(error) ? `Error: ${error}` : content;
}

/** The output of a denied call: `Permission denied: <reason>` for a permission, else the bare reason. */
function denialTextOf({
  request,
  response,
  reason,
  stage,
}: Pick<Blocked, 'request' | 'response' | 'reason'> &
  Pick<NonNullable<Finished['denial']>, 'stage'>): string {
  if (reason === '') return response.content;
  return stage === 'approval' && request.category !== 'shell' ? `Permission denied: ${reason}` : reason;
}

/** The final output of a call: its denial text, unless a hook has replaced it, else its output. */
function finalOutputOf(event: Finished): string {
  const { denial, request, response } = event;
  if (denial === undefined || !response.content.includes(denial.reason)) return outputOf(event);
  return denialTextOf({ request, response, ...denial });
}

function describeFinished(point: string, event: Finished): Payload {
  const output = finalOutputOf(event);
  if (point !== 'post_tool') {
    return { ...callOf(event.request), output, final_output: output, cached: false };
  }
  // What the model wrote, before hooks changed it.
  const originalCall = callOf({ ...event.request, args: event.asked });
  return { ...originalCall, result: output, cached: false };
}
