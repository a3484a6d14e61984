import type { CallEvent, HookEvent, NativeEvent } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import { RuntimeError } from '../../errors.ts';
import type { Payload } from '../foreign-dialect.ts';
import { describeEvent } from './describe-event.ts';
import { toNanoseconds } from './nanoseconds.ts';
import { toContext, toMeta, tracePaths } from './wire/context.ts';
import { toMessages } from './wire/message.ts';
import { toResponse } from './wire/response.ts';
import { toToolDef, toToolResult } from './wire/tool.ts';

/** The params of a method, with every key that the page shows; `encode` leaves out what a version does not have. */
export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  switch (event.phase) {
    case 'before_call':
      return describeRequest(event, hookContext);
    case 'after_call':
      return describeResponse(event, hookContext);
    case 'before_execution':
      return describeCall('before_tool', event, hookContext);
    case 'approval':
      return describeCall('approve_tool', event, hookContext);
    case 'after_execution':
      return {
        ...describeCall('after_tool', event, hookContext),
        result: toToolResult(event.response),
        duration: toNanoseconds(event.response.latency_ms),
      };
    default: {
      const payload = describeEvent(event, hookContext);
      if (payload !== undefined) return payload;
      throw new RuntimeError('INTERNAL', `${event.phase} does not reach the point "${point}"`);
    }
  }
}

function describeRequest(
  { request }: Extract<NativeEvent, { phase: 'before_call' }>,
  hookContext: HookContext,
): Payload {
  const { context, channel, chat_id } = toContext(hookContext);
  const { max_tokens, temperature } = request.options ?? {};
  return {
    meta: toMeta(hookContext, tracePaths.before_llm, request.round),
    context,
    model: request.model,
    messages: toMessages(request),
    tools: (request.tools ?? []).map(toToolDef),
    options: {
      ...(max_tokens !== undefined && { max_tokens }),
      ...(temperature !== undefined && { temperature }),
    },
    channel,
    chat_id,
    graceful_terminal: false,
  };
}

function describeResponse(
  { response }: Extract<NativeEvent, { phase: 'after_call' }>,
  hookContext: HookContext,
): Payload {
  const { context, channel, chat_id } = toContext(hookContext);
  return {
    meta: toMeta(hookContext, tracePaths.after_llm, response.round),
    context,
    model: response.model,
    response: toResponse(response.message),
    channel,
    chat_id,
  };
}

type OfCall = Extract<NativeEvent | CallEvent, { hook: 'tool' }>;

function describeCall(
  point: 'before_tool' | 'approve_tool' | 'after_tool',
  { request }: OfCall,
  hookContext: HookContext,
): Payload {
  const { context, channel, chat_id } = toContext(hookContext);
  const meta = toMeta(hookContext, tracePaths[point]);
  return { meta, context, tool: request.name, arguments: request.args, channel, chat_id };
}
