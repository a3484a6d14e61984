import type { ChatMessage } from '../contract/provider.ts';
import { RuntimeError } from '../errors.ts';
import { isObject, Json, stringifyJson } from '../json.ts';
import type { ModelAnswer } from './chat-model.ts';
import { completeMessage } from './message.ts';
import type { ChatStep, Guardrail } from './model.ts';
import { evaluateIn, type Scope } from './scope.ts';

/** A chat step in its place. */
export interface ChatPlace {
  readonly step: ChatStep;
  readonly name: string;
  readonly scope: Scope;
}

/** A turn as far as it has come. */
export interface Talk {
  readonly system: string;
  readonly messages: ChatMessage[];
  /** Answers that a guardrail failed and what the model was told of them: nobody else gets to see these. */
  readonly withheld: Set<ChatMessage>;
  readonly toolCalls: MadeCall[];
  rounds: number;
  readonly usage: { input_tokens: number; output_tokens: number; cost_usd?: number };
  answer: ModelAnswer | undefined;
  guardrails: readonly GuardrailResult[];
}

/** A tool call of the turn, as the step's view shows it. */
export interface MadeCall {
  readonly name: string;
  readonly args: Json | string;
  readonly status: 'ok' | 'failed' | 'denied';
  /** The text that the model was given. */
  readonly content: string;
  readonly error: string;
  /** Position of the assistant message that asked for it. */
  readonly index: number;
}

/** A turn that begins. Throws EXPRESSION_FAILED. */
export function openTalk({ step, scope }: ChatPlace): Talk {
  const system = step.system === undefined ? '' : textOf(evaluateIn(scope, step.system));
  return {
    system,
    messages: readMessages(evaluateIn(scope, step.messages)),
    withheld: new Set(),
    toolCalls: [],
    rounds: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
    answer: undefined,
    guardrails: [],
  };
}

function readMessages(value: unknown): ChatMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }];
  if (!Array.isArray(value)) {
    throw new RuntimeError('EXPRESSION_FAILED', '`messages` is neither a text nor a list of messages');
  }
  if (value.length === 0) throw new RuntimeError('EXPRESSION_FAILED', '`messages` is an empty list');
  return value.map((message, index) => {
    const role = isObject(message) ? message['role'] : undefined;
    if (
      !isObject(message) ||
      (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'tool')
    ) {
      const why = '`role` must be system, user, assistant or tool';
      throw new RuntimeError('EXPRESSION_FAILED', `messages[${index}] is no message: ${why}`);
    }
    if (role === 'tool' && !isObject(message['tool_result'])) {
      const why = 'a tool message needs `tool_result: {id, name}`';
      throw new RuntimeError('EXPRESSION_FAILED', `messages[${index}] is no message: ${why}`);
    }
    return completeMessage({ ...message, content: textOf(message['content'] ?? '') });
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** What a guardrail came to. */
export interface GuardrailResult {
  readonly id: string;
  readonly action: Guardrail['action'];
  /** Null: it could not be scored, which fails. */
  readonly score: number | null;
  readonly passed: boolean;
  readonly detail: string;
}

/** The messages that anybody may see. */
export function visible({ messages, withheld }: Talk): ChatMessage[] {
  return messages.filter((message) => !withheld.has(message));
}

/** What expressions see of the step. */
export function viewOf(talk: Talk, text: string) {
  return {
    text,
    rounds: talk.rounds,
    finish_reason: talk.answer?.finish_reason ?? '',
    usage: talk.usage,
    tool_calls: talk.toolCalls.map(({ name, args, status, content, error }) => ({
      name,
      args,
      status,
      result: content,
      error,
    })),
    messages: visible(talk),
    guardrails: talk.guardrails,
    metadata: talk.answer?.metadata ?? new Json('{}'),
  };
}
