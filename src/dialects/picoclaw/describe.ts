import type { HookEvent } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import { RuntimeError } from '../../errors.ts';
import type { Payload } from '../foreign-dialect.ts';
import { describeEvent } from './describe-event.ts';
import { toContext, toMeta, toNanoseconds, tracePaths } from './wire/context.ts';
import { toMessages } from './wire/message.ts';
import { toResponse } from './wire/response.ts';
import { toToolDef, toToolResult } from './wire/tool.ts';

/** The params of a method, with every key that the page shows; `encode` leaves out what a version does not have. */
export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  switch (event.phase) {
    case 'before_call': {
      const { model, round, options = {}, tools = [] } = event.request;
      const { max_tokens, temperature } = options;
      const request = {
        model,
        messages: toMessages(event.request),
        tools: tools.map(toToolDef),
        options: {
          ...(max_tokens !== undefined && { max_tokens }),
          ...(temperature !== undefined && { temperature }),
        },
      };
      return { ...frame('before_llm', hookContext, request, round), graceful_terminal: false };
    }
    case 'after_call': {
      const { model, message, round } = event.response;
      return frame('after_llm', hookContext, { model, response: toResponse(message) }, round);
    }
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

function describeCall(
  method: keyof typeof tracePaths,
  { request }: Extract<HookEvent, { phase: 'before_execution' | 'approval' | 'after_execution' }>,
  hookContext: HookContext,
): Payload {
  return frame(method, hookContext, { tool: request.name, arguments: request.args });
}

/** The members of a method between those that every method has. */
function frame(
  method: keyof typeof tracePaths,
  hookContext: HookContext,
  members: Payload,
  round?: number,
): Payload {
  const { context, channel, chat_id } = toContext(hookContext);
  return { meta: toMeta(hookContext, tracePaths[method], round), context, ...members, channel, chat_id };
}
