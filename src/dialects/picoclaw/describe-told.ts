import type { HookEvent } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Scene } from '../../contract/turn.ts';
import { isObject } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import { findKind } from './event-kinds.ts';
import { plain } from './json-parts.ts';
import { toNanoseconds } from './nanoseconds.ts';
import { toToolCalls } from './wire/call.ts';
import { toContext, toMeta } from './wire/context.ts';
import { countFiles, promptMessages } from './wire/message.ts';

/**
 * An event in the legacy form, with all that either form has; undefined for what is not told. `id` names it in
 * the newer form.
 */
export function describeTold(event: HookEvent, scene: Scene): Payload | undefined {
  const said = sayEvent(event, scene);
  if (said === undefined) return undefined;
  const { legacy, trace, payload, which, round = scene.round } = said;
  const id = ['evt', scene.turn_id, round, legacy, ...(which === undefined ? [] : [which])].join('-');
  return {
    id,
    Kind: findKind(legacy)?.number,
    KindName: legacy,
    Time: scene.now,
    Meta: toMeta(scene, trace, round),
    Context: toContext(scene).context,
    Payload: payload,
  };
}

interface Told {
  readonly legacy: string;
  /** Source: the trace paths of PicoClaw's agent loop. */
  readonly trace: string;
  readonly payload: Payload;
  /** Tells it from others of its kind in the round: the id of its call, or its number. */
  readonly which?: string;
  /** Where it is another than the scene's: a model call counts when it is answered. */
  readonly round?: number;
}

function sayEvent(event: HookEvent, scene: Scene): Told | undefined {
  const next = scene.round + 1;
  switch (event.phase) {
    case 'turn_start':
      return { legacy: 'turn_start', trace: 'turn.start', payload: sayStart(event.turn) };
    case 'turn_end':
      return { legacy: 'turn_end', trace: 'turn.end', payload: sayEnd(event, scene) };
    case 'model_asked':
      return { legacy: 'llm_request', trace: 'turn.llm.request', payload: sayAsked(event.turn), round: next };
    case 'model_retried':
      return {
        legacy: 'llm_retry',
        trace: 'turn.llm.retry',
        payload: sayRetry(event),
        round: next,
        which: String(event.retry),
      };
    case 'model_answered':
      return { legacy: 'llm_response', trace: 'turn.llm.response', payload: sayAnswered(event.message) };
    case 'error':
      return {
        legacy: 'error',
        trace: 'turn.error',
        payload: { Stage: event.stage, Message: event.error.message },
        round: next,
      };
    case 'started': {
      const { name, args, call_id } = event.request;
      const payload = { Tool: name, Arguments: args };
      return { legacy: 'tool_exec_start', trace: 'turn.tool.before', payload, which: call_id };
    }
    case 'finished':
      return {
        legacy: 'tool_exec_end',
        trace: 'turn.tool.end',
        payload: sayFinished(event),
        which: event.request.call_id,
      };
    case 'blocked': {
      const payload = { Tool: event.request.name, Reason: event.reason };
      return {
        legacy: 'tool_exec_skipped',
        trace: 'turn.tool.skipped',
        payload,
        which: event.request.call_id,
      };
    }
    default:
      return undefined;
  }
}

type Of<Phase extends HookEvent['phase']> = Extract<HookEvent, { phase: Phase }>;

function sayStart({ prompt, messages }: Of<'turn_start'>['turn']): Payload {
  const newest = messages.findLast(({ role }) => role === 'user');
  return {
    UserMessage: prompt,
    MediaCount: newest === undefined ? 0 : countFiles(newest),
  };
}

/** A denied turn has failed: nothing but these three words is known. */
const statuses = { completed: 'completed', failed: 'error', denied: 'error' } as const;

function sayEnd({ status, response, original_prompt, duration_ms }: Of<'turn_end'>, scene: Scene): Payload {
  const executions = executionsOf(scene.messages);
  return {
    Status: statuses[status],
    Iterations: scene.round,
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

/** The tool calls of the newest turn. */
function executionsOf(messages: readonly ChatMessage[]) {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(start + 1).flatMap((message) => {
    const result = plain(message['tool_result']);
    if (!isObject(result)) return [];
    const error = String(plain(result['error']) ?? '');
    const name = String(plain(result['name']) ?? '');
    return [{ name, success: error === '', error_summary: error, skill_names: [] }];
  });
}

function sayAsked(turn: Of<'model_asked'>['turn']): Payload {
  return {
    Model: turn.model,
    MessagesCount: promptMessages(turn).length,
    ToolsCount: turn.tools.length,
    MaxTokens: turn.options.max_tokens ?? 0,
    Temperature: turn.options.temperature ?? 0,
  };
}

function sayRetry({ retry, max_retries, error, backoff_ms }: Of<'model_retried'>): Payload {
  return {
    Attempt: retry,
    MaxRetries: max_retries,
    Reason: error.details?.['status'] === 429 ? 'rate_limit' : 'error',
    Error: error.message,
    Backoff: toNanoseconds(backoff_ms),
  };
}

function sayAnswered(message: ChatMessage): Payload {
  return {
    ContentLen: Buffer.byteLength(message.content),
    ToolCalls: toToolCalls(message).length,
    HasReasoning: (plain(message['reasoning']) ?? '') !== '',
  };
}

function sayFinished({ request, response, status }: Of<'finished'>): Payload {
  return {
    Tool: request.name,
    Duration: toNanoseconds(response.latency_ms),
    ForLLMLen: Buffer.byteLength(response.content),
    ForUserLen: 0,
    IsError: status === 'failed',
    Async: false,
  };
}
