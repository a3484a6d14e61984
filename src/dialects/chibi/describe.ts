import type { CallEvent, HookEvent, NativeEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { Scene } from '../../contract/turn.ts';
import { RuntimeError } from '../../errors.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import { permissionOf } from './permission.ts';
import { describeBody } from './request/body.ts';
import { placed } from './scene.ts';

/** A point's payload for an event of a pipeline; what only the plugin's entry knows is added when it is encoded. */
export function describe(point: string, event: HookEvent, scene: Scene): Payload {
  const place = (...keys: string[]) => placed(scene, [...keys, 'fuel_remaining', 'fuel_total']);
  switch (event.phase) {
    case 'session_start':
    case 'session_end':
      return placed(scene, ['tool_count']);
    case 'prompt':
      return { prompt: event.turn.prompt, ...placed(scene, ['context_name', 'summary']) };
    case 'system_prompt':
      return placed(scene, ['context_name', 'summary', 'flock_goals']);
    case 'tool_list': {
      const tools = event.turn.tools.map(({ name, category }) => ({ name, type: category ?? 'plugin' }));
      return { ...place('context_name'), tools };
    }
    case 'request':
      return { ...place('context_name'), request_body: describeBody(event.turn) };
    case 'loop':
      return { ...place('context_name', 'current_fallback'), message: event.turn.prompt };
    case 'batch': {
      const tool_calls = event.calls.map(({ name, args }) => ({ name, arguments: args }));
      return { ...place('context_name', 'current_fallback'), tool_calls };
    }
    case 'answered': {
      const { turn, original_prompt, response } = event;
      return { prompt: turn.prompt, original_prompt, response, ...placed(scene, ['context_name']) };
    }
    default:
      return describeCall(point, event);
  }
}

function describeCall(point: string, event: HookEvent): Payload {
  switch (event.phase) {
    case 'before_execution':
      return callOf(event.request);
    case 'approval': {
      const permission = permissionOf(event.request);
      if (permission?.point === point) return permission.payload;
      break;
    }
    case 'after_execution':
      return { ...callOf(event.request), output: outputOf(event) };
    case 'blocked':
      return {
        ...callOf(event.request),
        output: refusalOf({ ...event, stage: event.stage ?? 'before_execution' }),
      };
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

/** A failure as chibi spells it, as long as no hook has put something else in its place. */
function outputOf({ response: { content, error } }: AfterExecution | Finished): string {
  return error !== '' && content.includes(error) ? `Error: ${error}` : content;
}

/** What a refused call comes to: a permission is denied in so many words, but chibi's shell says the bare reason. */
function refusalOf({
  request,
  response,
  reason,
  stage,
}: Pick<Blocked, 'request' | 'response' | 'reason'> &
  Pick<NonNullable<Finished['denial']>, 'stage'>): string {
  if (reason === '') return response.content;
  return stage === 'approval' && request.category !== 'shell' ? `Permission denied: ${reason}` : reason;
}

/** The same behind the hooks that may have put something else in its place. */
function endOf(event: Finished): string {
  const { denial, request, response } = event;
  if (denial === undefined || !response.content.includes(denial.reason)) return outputOf(event);
  return refusalOf({ request, response, ...denial });
}

function describeFinished(point: string, event: Finished): Payload {
  const output = endOf(event);
  if (point !== 'post_tool') {
    return { ...callOf(event.request), output, final_output: output, cached: false };
  }
  // What the model wrote, before hooks changed it.
  const asked = callOf({ ...event.request, args: event.asked });
  return { ...asked, result: output, cached: false };
}
