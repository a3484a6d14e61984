import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { asText } from '../../base/json/parse.ts';
import type { HookEvent } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Payload } from '../foreign-dialect.ts';
import { toPlainValue, valueAt } from '../payload-table.ts';
import { findKind } from './events.ts';
import {
  countFiles,
  promptMessages,
  toContext,
  toMessages,
  toMeta,
  toNanoseconds,
  toResponse,
  toToolCalls,
  toToolDef,
  toToolResult,
  tracePaths,
} from './wire.ts';

/** The params of a method with every key of the page. `encode` removes the keys that a version does not have. */
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

function frame(
  method: keyof typeof tracePaths,
  hookContext: HookContext,
  members: Payload,
  round?: number,
): Payload {
  const { context, channel, chat_id } = toContext(hookContext);
  return { meta: toMeta(hookContext, tracePaths[method], round), context, ...members, channel, chat_id };
}

/**
 * The payload of an event in the legacy form, with the members of both forms. Undefined if PicoClaw has no such event.
 * The newer form uses `id`.
 */
function describeEvent(event: HookEvent, hookContext: HookContext): Payload | undefined {
  const parts = toEventParts(event, hookContext);
  if (parts === undefined) return undefined;
  const { legacy, payload, idSuffix, round = hookContext.round } = parts;
  return {
    id: ['evt', hookContext.turn_id, round, legacy, ...(idSuffix === undefined ? [] : [idSuffix])].join('-'),
    Kind: findKind(legacy)?.number,
    KindName: legacy,
    Time: hookContext.now,
    Meta: toMeta(hookContext, traces[legacy], round),
    Context: toContext(hookContext).context,
    Payload: payload,
  };
}

/** Source: the trace paths of PicoClaw's agent loop. */
const traces = {
  turn_start: 'turn.start',
  turn_end: 'turn.end',
  llm_request: 'turn.llm.request',
  llm_retry: 'turn.llm.retry',
  llm_response: 'turn.llm.response',
  error: 'turn.error',
  tool_exec_start: 'turn.tool.before',
  tool_exec_end: 'turn.tool.end',
  tool_exec_skipped: 'turn.tool.skipped',
} as const;

interface EventParts {
  readonly legacy: keyof typeof traces;
  readonly payload: Payload;
  readonly idSuffix?: string;
  readonly round?: number;
}

function toEventParts(event: HookEvent, hookContext: HookContext): EventParts | undefined {
  const round = hookContext.round + 1;
  switch (event.phase) {
    case 'turn_start':
      return { legacy: 'turn_start', payload: describeTurnStart(event.turn) };
    case 'turn_end':
      return { legacy: 'turn_end', payload: describeTurnEnd(event, hookContext) };
    case 'model_asked':
      return { legacy: 'llm_request', payload: describeModelRequest(event.turn), round };
    case 'model_retried': {
      const payload = describeModelRetry(event);
      return { legacy: 'llm_retry', payload, round, idSuffix: String(event.retry) };
    }
    case 'model_answered':
      return { legacy: 'llm_response', payload: describeModelResponse(event.message) };
    case 'error':
      return { legacy: 'error', payload: { Stage: event.stage, Message: event.error.message }, round };
    case 'started': {
      const { name, args, call_id: idSuffix } = event.request;
      return { legacy: 'tool_exec_start', payload: { Tool: name, Arguments: args }, idSuffix };
    }
    case 'finished':
      return { legacy: 'tool_exec_end', payload: describeToolEnd(event), idSuffix: event.request.call_id };
    case 'blocked': {
      const { name, call_id: idSuffix } = event.request;
      return { legacy: 'tool_exec_skipped', payload: { Tool: name, Reason: event.reason }, idSuffix };
    }
    default:
      return undefined;
  }
}

type EventOf<Phase extends HookEvent['phase']> = Extract<HookEvent, { phase: Phase }>;

function describeTurnStart({ prompt, messages }: EventOf<'turn_start'>['turn']): Payload {
  const newest = messages.findLast(({ role }) => role === 'user');
  return { UserMessage: prompt, MediaCount: newest === undefined ? 0 : countFiles(newest) };
}

/** PicoClaw has no status for a denied turn, so it is an error. */
const statuses = { completed: 'completed', failed: 'error', denied: 'error' } as const;

function describeTurnEnd(
  { status, response, original_prompt, duration_ms }: EventOf<'turn_end'>,
  hookContext: HookContext,
): Payload {
  const executions = executionsOf(hookContext.messages);
  return {
    Status: statuses[status],
    Iterations: hookContext.round,
    Duration: toNanoseconds(duration_ms),
    FinalContentLen: Buffer.byteLength(response),
    Workspace: '',
    UserMessage: original_prompt,
    FinalContent: response,
    ActiveSkills: [],
    AttemptedSkills: [],
    FinalSuccessfulPath: [],
    SkillContextSnapshots: [],
    ToolKinds: [...new Set(executions.map(({ name }) => name))],
    ToolExecutions: executions,
  };
}

function executionsOf(messages: readonly ChatMessage[]) {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(start + 1).flatMap((message) => {
    const result = toPlainValue(message['tool_result']);
    if (!isObject(result)) return [];
    const [name, error] = ['name', 'error'].map((key) => asText(valueAt(result, key) ?? ''));
    return [{ name, success: error === '', error_summary: error, skill_names: [] }];
  });
}

function describeModelRequest(turn: EventOf<'model_asked'>['turn']): Payload {
  return {
    Model: turn.model,
    MessagesCount: promptMessages(turn).length,
    ToolsCount: turn.tools.length,
    MaxTokens: turn.options.max_tokens ?? 0,
    Temperature: turn.options.temperature ?? 0,
  };
}

function describeModelRetry({ retry, max_retries, error, backoff_ms }: EventOf<'model_retried'>): Payload {
  return {
    Attempt: retry,
    MaxRetries: max_retries,
    Reason: error.details?.['status'] === 429 ? 'rate_limit' : 'error',
    Error: error.message,
    Backoff: toNanoseconds(backoff_ms),
  };
}

function describeModelResponse(message: ChatMessage): Payload {
  return {
    ContentLen: Buffer.byteLength(message.content),
    ToolCalls: toToolCalls(message).length,
    HasReasoning: (toPlainValue(message['reasoning']) ?? '') !== '',
  };
}

function describeToolEnd({ request, response, status }: EventOf<'finished'>): Payload {
  return {
    Tool: request.name,
    Duration: toNanoseconds(response.latency_ms),
    ForLLMLen: Buffer.byteLength(response.content),
    ForUserLen: 0,
    IsError: status === 'failed',
    Async: false,
  };
}
