import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { completeMessage } from '../../calls/hooks/replace.ts';
import type { CallResult } from '../../calls/tool-call/callable-tool.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { FinishedCall } from '../../contract/turn.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import type { ChatStep, Guardrail } from '../file/pipeline.ts';
import type { ModelAnswer } from '../state/answer-record.ts';
import { argsObject, idOf, type RequestedCall } from '../state/requested-calls.ts';
import { evaluateIn, type StepContext } from '../state/step-scope.ts';
import type { LoopControl } from '../state/turn-record.ts';
import { type CallUsage, sumUsage } from './model-usage.ts';

export interface TurnState {
  system: string;
  readonly messages: ChatMessage[];
  /** The user message that begins the turn, or ''. */
  prompt: string;
  readonly originalPrompt: string;
  offered: readonly ToolListing[];
  model: string | undefined;
  options: ModelOptions;
  /** Model calls left to this attempt by `max_rounds`. Only the loop changes it. */
  callsLeft: number;
  /** The rounds that a hook last set, within `callsLeft`, and that hook. */
  fuel: { readonly level: number; readonly setBy: string | undefined } | undefined;
  /** What follows the next answer without tool calls. A hook's choice holds for one answer. */
  fallback: 'call_user' | 'call_agent';
  modelPrompt: { readonly prompt: string; readonly original: string };
  base: { readonly system: string; readonly offered: readonly ToolListing[]; readonly options: ModelOptions };
  readonly forcedTurns: Map<string, number>;
  /** Whether this is the extra round beyond the limit; no hook can force another. */
  isLastRound: boolean;
  readonly failedOpen: FailedOpen[];
  /** A flow-control tool, not the model, ended the turn. */
  isHandedBack: boolean;
  readonly startedAt: number;
  /** Answers that failed a guardrail and the feedback on them. Only the model sees these messages. */
  readonly withheld: Set<ChatMessage>;
  readonly toolCalls: ToolCallRecord[];
  rounds: number;
  readonly usage: CallUsage[];
  answer: ModelAnswer | undefined;
  guardrails: readonly GuardrailResult[];
  /** Journaled failures of model calls from earlier attempts. */
  retriesLeft: number;
}

interface ToolCallRecord {
  readonly name: string;
  readonly args: Json | string;
  readonly status: 'ok' | 'failed' | 'denied';
  readonly content: string;
  readonly error: string;
  readonly metadata: Json;
  readonly index: number;
}

/** Throws EXPRESSION_FAILED. */
export function createTurnState(
  { step, scope, retries = 0 }: StepContext<ChatStep>,
  offered: readonly ToolListing[],
): TurnState {
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
    callsLeft: step.maxRounds,
    fuel: undefined,
    fallback: 'call_user',
    modelPrompt: { prompt, original: prompt },
    base: { system, offered, options },
    forcedTurns: new Map(),
    isLastRound: false,
    failedOpen: [],
    isHandedBack: false,
    startedAt: performance.now(),
    withheld: new Set(),
    toolCalls: [],
    rounds: 0,
    usage: [],
    answer: undefined,
    guardrails: [],
    retriesLeft: retries,
  };
}

function readMessages(value: unknown): ChatMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }];
  if (!Array.isArray(value)) {
    throw new RuntimeError('EXPRESSION_FAILED', '`messages` is neither text nor a list of messages');
  }
  if (value.length === 0) throw new RuntimeError('EXPRESSION_FAILED', '`messages` is an empty list');
  return value.map((message, index) => {
    const role = isObject(message) ? message['role'] : undefined;
    if (
      !isObject(message) ||
      (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'tool')
    ) {
      const why = '`role` must be system, user, assistant or tool';
      throw new RuntimeError('EXPRESSION_FAILED', `messages[${index}] is not a message: ${why}`);
    }
    if (role === 'tool' && !isObject(message['tool_result'])) {
      const why = 'a tool message needs `tool_result: {id, name}`';
      throw new RuntimeError('EXPRESSION_FAILED', `messages[${index}] is not a message: ${why}`);
    }
    return completeMessage({ ...message, content: textOf(message['content'] ?? '') });
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

export interface GuardrailResult {
  readonly id: string;
  readonly action: Guardrail['action'];
  /** null: the answer could not be scored, which counts as failed. */
  readonly score: number | null;
  readonly passed: boolean;
  readonly detail: string;
}

export function visibleMessages({ messages, withheld }: TurnState): ChatMessage[] {
  return messages.filter((message) => !withheld.has(message));
}

export function viewOf(state: TurnState, text: string) {
  return {
    text,
    rounds: state.rounds,
    finish_reason: state.answer?.finish_reason ?? '',
    ...omitUndefined({ provider: state.answer?.provider, model: state.answer?.model }),
    usage: sumUsage(state.usage),
    tool_calls: state.toolCalls.map(({ name, args, status, content, error, metadata }) => ({
      ...{ name, args, status, result: content, error },
      ...(metadata.text !== '{}' && { metadata }),
    })),
    messages: visibleMessages(state),
    guardrails: state.guardrails,
    metadata: state.answer?.metadata ?? new Json('{}'),
    ...(state.failedOpen.length > 0 && { failed_open: state.failedOpen }),
  };
}

export function loopControlOf(decision: Decision): LoopControl {
  const fallback = replacedMember(decision, 'fallback');
  const fuel = replacedMember(decision, 'fuel');
  const fuelDelta = replacedMember(decision, 'fuel_delta');
  return {
    // An unknown fallback ends the turn.
    ...(typeof fallback === 'string' && { fallback: fallback === 'call_agent' ? fallback : 'call_user' }),
    ...(isCount(fuel) && { fuel }),
    ...(typeof fuelDelta === 'number' && Number.isSafeInteger(fuelDelta) && { fuelDelta }),
    ...(decision.hook !== null && { by: decision.hook }),
  };
}

export function applyLoopControl(state: TurnState, { fallback, fuel, fuelDelta, by }: LoopControl): void {
  if (fallback !== undefined) state.fallback = fallback;
  if (fuel === undefined && fuelDelta === undefined) return;
  const level = (fuel ?? roundsLeft(state)) + (fuelDelta ?? 0);
  state.fuel = { level: Math.max(0, level), setBy: by };
}

export function roundsLeft({ callsLeft, fuel }: TurnState): number {
  return Math.min(callsLeft, fuel?.level ?? callsLeft);
}

export function chargeRound(state: TurnState): void {
  state.callsLeft = Math.max(0, state.callsLeft - 1);
  if (state.fuel !== undefined) state.fuel = { ...state.fuel, level: Math.max(0, state.fuel.level - 1) };
}

export function hasNoFuel({ fuel }: TurnState): boolean {
  return fuel !== undefined && fuel.level <= 0;
}

export function replacedMember({ replace }: Decision, key: string): unknown {
  const value = replace?.value;
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function appendResults(
  state: TurnState,
  requested: readonly RequestedCall[],
  results: readonly CallResult[],
): FinishedCall[] {
  const index = state.messages.length - 1;
  return requested.flatMap((call, position) => {
    const result = results[position];
    if (result === undefined) return [];
    const record = toToolCallRecord(call, result, index);
    state.toolCalls.push(record);
    state.failedOpen.push(...failedOpenIn(record.metadata));
    state.messages.push(toToolMessage(call, record));
    const { name, content } = record;
    return [{ name, call_id: idOf(call, result.callId), args: argsObject(call.args), content }];
  });
}

function toToolCallRecord(
  { name, args }: RequestedCall,
  { outcome, content, metadata }: CallResult,
  index: number,
): ToolCallRecord {
  // JSON arguments keep their bytes; others are the model's text.
  const status = outcome.status === 'pending' ? 'failed' : outcome.status;
  const error = outcome.status === 'failed' ? outcome.error.message : status === 'denied' ? content : '';
  return { name, args: tryJson(args) ?? args, status, content, error, metadata, index };
}

/** Also appends the texts to the error of a failed result. */
export function appendText(message: ChatMessage, texts: readonly string[]): ChatMessage {
  const content = [message.content, ...texts].join('\n');
  const result = message['tool_result'];
  if (!isObject(result) || result['error'] === undefined) return { ...message, content };
  return { ...message, content, tool_result: { ...result, error: content } };
}

function toToolMessage({ id, name }: RequestedCall, made: ToolCallRecord): ChatMessage {
  // The AI SDK has one text for a failed result, so both members carry it.
  const error = made.status === 'ok' ? {} : { error: made.content };
  return { role: 'tool', content: made.content, tool_result: { id, name, ...error } };
}
