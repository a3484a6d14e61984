import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { FailedOpen } from '../../dialects/metadata.ts';
import { RuntimeError } from '../../errors.ts';
import { completeMessage } from '../../hooks/message.ts';
import { isObject, Json, stringifyJson } from '../../json/json.ts';
import type { ChatStep, Guardrail } from '../file/model.ts';
import { evaluateIn, type Scope } from '../state/scope.ts';
import type { ModelAnswer } from './model.ts';
import { type Spent, sumSpent } from './spent.ts';

/** A chat step in its place. */
export interface ChatPlace {
  readonly step: ChatStep;
  readonly name: string;
  readonly scope: Scope;
}

/** A turn as far as it has come. */
export interface Talk {
  system: string;
  readonly messages: ChatMessage[];
  /** What the person said last; '' when the turn does not begin with it. */
  prompt: string;
  /** The same as nobody has changed it. */
  readonly originalPrompt: string;
  /** What the model is offered. */
  offered: readonly ToolListing[];
  /** Undefined: the provider's own. */
  model: string | undefined;
  options: ModelOptions;
  /** Model calls that the turn has left. */
  roundsLeft: number;
  /** The hook that has set or changed that last. */
  fuelSetBy: string | undefined;
  /** What follows the next answer without tool calls; what a hook wants holds for one. */
  fallback: 'call_user' | 'call_agent';
  /** What the model was asked last, by a person or by the loop itself. */
  asked: { readonly prompt: string; readonly original: string };
  /** What each call of the loop starts from, before hooks change it. */
  base: { readonly system: string; readonly offered: readonly ToolListing[]; readonly options: ModelOptions };
  /** How often hooks have made the turn go on, by their dialect. */
  readonly forces: Map<string, number>;
  /** The round beyond the limit, which one hook has forced and after which none can force another. */
  isLastRound: boolean;
  /** Hooks that failed, and what they were asked about passed by the rules of their dialects. */
  readonly failedOpen: FailedOpen[];
  /** A tool, not the model, has given the word back. */
  isHandedBack: boolean;
  readonly startedAt: number;
  /** Answers that a guardrail failed and what the model was told of them: nobody else gets to see these. */
  readonly withheld: Set<ChatMessage>;
  readonly toolCalls: MadeCall[];
  rounds: number;
  /** Of each model call, in order. */
  readonly spent: Spent[];
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
  /** What hooks had to say of it. */
  readonly metadata: Json;
  /** Position of the assistant message that asked for it. */
  readonly index: number;
}

/** A turn that begins. Throws EXPRESSION_FAILED. */
export function openTalk({ step, scope }: ChatPlace, offered: readonly ToolListing[]): Talk {
  const system = step.system === undefined ? '' : textOf(evaluateIn(scope, step.system));
  const messages = readMessages(evaluateIn(scope, step.messages));
  const newest = messages.at(-1);
  const prompt = newest?.role === 'user' ? newest.content : '';
  const { temperature, maxTokens } = step;
  const options = {
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
  return {
    system,
    messages,
    prompt,
    originalPrompt: prompt,
    offered,
    model: undefined,
    options,
    roundsLeft: step.maxRounds,
    fuelSetBy: undefined,
    fallback: 'call_user',
    asked: { prompt, original: prompt },
    base: { system, offered, options },
    forces: new Map(),
    isLastRound: false,
    failedOpen: [],
    isHandedBack: false,
    startedAt: performance.now(),
    withheld: new Set(),
    toolCalls: [],
    rounds: 0,
    spent: [],
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
    usage: sumSpent(talk.spent),
    tool_calls: talk.toolCalls.map(({ name, args, status, content, error, metadata }) => ({
      ...{ name, args, status, result: content, error },
      ...(metadata.text !== '{}' && { metadata }),
    })),
    messages: visible(talk),
    guardrails: talk.guardrails,
    metadata: talk.answer?.metadata ?? new Json('{}'),
    ...(talk.failedOpen.length > 0 && { failed_open: talk.failedOpen }),
  };
}
