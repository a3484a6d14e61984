import type { LanguageModelV4CallOptions, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { completeMessage } from '../../calls/hooks/replace.ts';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { HookContext } from '../../contract/turn.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import type { OnRetry } from '../../models/call-scope.ts';
import { toPrompt } from '../../models/messages/prompt.ts';
import { toFunctionTool } from '../../models/messages/tools.ts';
import { costOf } from '../../models/spending/cost.ts';
import type { ChatStep } from '../file/pipeline.ts';
import { answerRecord, type ModelAnswer } from '../state/answer-record.ts';
import { journalStep } from '../state/record.ts';
import type { GuardedModel, ModelCallParameters, RunContext } from '../state/run-context.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { transientOfModel } from '../suspend/transient-fault.ts';
import { hookContextOf, notifyTurn, stopTurn, type TurnContext, toTurn } from '../turn-hooks.ts';
import { callModel } from './model-call.ts';
import { usageOfFailedCall } from './model-usage.ts';
import { takeExtraContext } from './turn-start.ts';
import { viewOf } from './turn-state.ts';

export async function requestAnswer(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { run, chat, state } = turn;
  const { step, name, scope } = chat;
  const isLate = isReleasedAtEnd(turn);
  const extraTexts = await takeExtraContext(run, path);
  if (extraTexts.length > 0)
    state.messages.push(completeMessage({ role: 'user', content: extraTexts.join('\n') }));
  let isNew = false;
  const answer = await journalModelCall(run, path, {
    step,
    state,
    hookContext: hookContextOf(turn),
    signal: scope.signal,
    onCall: (asked) => void notifyTurn(turn, { phase: 'model_asked' }, asked),
    onRetry: ({ attempt: retry, maxRetries: max_retries, error, backoffMs: backoff_ms }) =>
      void notifyTurn(turn, {
        phase: 'model_retried',
        retry,
        max_retries,
        error: toFault(error),
        backoff_ms,
      }),
    isRetried: () => {
      if (state.retriesLeft === 0) return false;
      state.retriesLeft -= 1;
      return true;
    },
    onAnswer: () => {
      isNew = true;
    },
    onText: (text) => {
      if (!isLate) run.emit({ type: 'text', run: run.journal.runId, step: name, text });
    },
  });
  if ('error' in answer) return await failRound(turn, answer.error, path);
  addAnswer(turn, answer);
  if (isNew) await notifyTurn(turn, { phase: 'model_answered', message: answer.message });
  return undefined;
}

async function failRound(turn: TurnContext, error: Fault, path: string): Promise<StepOutcome> {
  const { details } = error;
  turn.state.usage.push(...usageOfFailedCall(error));
  turn.state.failedOpen.push(...failedOpenIn(Json.from(details?.['metadata'] ?? {})));
  if (error.code !== 'DENIED') await notifyTurn(turn, { phase: 'error', stage: 'llm', error });
  else if (details?.['abort'] !== undefined) {
    const { hook, reason, abort } = details;
    const stopped = {
      hook: String(hook),
      reason: String(reason),
      isSession: abort === 'session',
      metadata: details['metadata'],
    };
    return stopTurn(turn, stopped);
  }
  const outcome = failedStep(error.code === 'DENIED' ? 'denied' : 'failed', error, viewOf(turn.state, ''));
  const transient = transientOfModel(error, path);
  return transient === undefined ? outcome : { ...outcome, transient };
}

function addAnswer({ state }: TurnContext, answer: ModelAnswer): void {
  state.rounds += 1;
  state.answer = answer;
  state.messages.push(answer.message);
  state.failedOpen.push(...failuresAround(answer));
  const { usage, cost_usd } = answer;
  state.usage.push({ ...usage, ...(cost_usd !== undefined && { cost_usd }) });
}

function failuresAround({ metadata: { value } }: ModelAnswer): FailedOpen[] {
  return ['before_call', 'after_call'].flatMap((phase) => {
    const report = isObject(value) ? value[phase] : undefined;
    return failedOpenIn(Json.from(isObject(report) ? report['metadata'] : {}));
  });
}

interface ModelCallRequest {
  readonly step: ChatStep;
  readonly state: {
    readonly system: string;
    readonly messages: readonly ChatMessage[];
    readonly offered: readonly ToolListing[];
    readonly model: string | undefined;
    readonly options: ModelOptions;
    readonly toolCalls: readonly unknown[];
  };
  readonly hookContext: HookContext;
  readonly signal: AbortSignal;
  /** Called after the before_call hooks have allowed the call, just before the model call. */
  readonly onCall: (asked: ModelCallParameters) => void;
  readonly onRetry: OnRetry;
  /** Called only for a new answer, not for one from the journal. */
  readonly onAnswer: () => void;
  /** Whether the journaled failure is one that is retried, so that the call is made again. */
  readonly isRetried: () => boolean;
  readonly onText: (text: string) => void;
}

async function journalModelCall(
  run: RunContext,
  path: string,
  question: ModelCallRequest,
): Promise<ModelAnswer | { readonly error: Fault }> {
  for (let again = 0; ; again += 1) {
    const name = again === 0 ? path : `${path}/retry-${again}`;
    const isKept = run.journal.find(name) !== undefined;
    const answer = await journalOne(run, name, question);
    if (!('error' in answer) || !isKept || !question.isRetried()) return answer;
  }
}

async function journalOne(
  run: RunContext,
  path: string,
  question: ModelCallRequest,
): Promise<ModelAnswer | { readonly error: Fault }> {
  return await journalStep(run.journal, { name: path, kind: answerRecord }, async () => {
    try {
      const answer = await callGuardedModel(run, question);
      question.onAnswer();
      return answer;
    } catch (error) {
      // A call that failed because the run was suspended is made again when the run resumes.
      if (run.signal.aborted) throw toAborted(error);
      return { error: toFault(error) };
    }
  });
}

function toAborted(cause: unknown): RuntimeError {
  return new RuntimeError('ABORTED', 'the model call was cancelled', { cause });
}

async function callGuardedModel(run: RunContext, question: ModelCallRequest): Promise<ModelAnswer> {
  const { step, state, hookContext, signal, onText, onCall, onRetry } = question;
  const stream = step.stream === 'windowed' ? 'windowed' : 'hold';
  const guarded = await run.model(step.provider, stream, { name: state.model, hookContext, onCall, onRetry });
  const answer = await callModel(guarded.model, {
    options: toOptions(run, question),
    isStreamed: step.stream !== undefined,
    onText,
  });
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the model call was cancelled');
  const by = guarded.answeredBy();
  const cost = priceOf(by ?? guarded, answer.usage);
  return {
    ...answer,
    ...(cost !== undefined && { cost_usd: cost }),
    ...(by && { provider: by.provider, model: by.model }),
  };
}

function toOptions(run: RunContext, { step, state, signal }: ModelCallRequest): LanguageModelV4CallOptions {
  const { temperature, max_tokens: maxTokens } = state.options;
  const { topP, stop, seed, outputSchema: schema } = step;
  const tools = state.offered.map(toFunctionTool);
  return {
    prompt: toPrompt({ messages: state.messages, system_prompt: state.system }),
    abortSignal: signal,
    providerOptions: { signalbox: { metadata: { session_id: run.session.id } } },
    ...(tools.length > 0 && { tools, toolChoice: toToolChoice(step, state) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stopSequences: [...stop] }),
    ...(seed !== undefined && { seed }),
    ...(schema !== undefined && { responseFormat: { type: 'json' as const, schema } }),
  };
}

/** A choice that forces a call would prevent an answer, so it applies only before the first calls. */
function toToolChoice(
  { toolChoice = 'auto' }: ChatStep,
  { offered, toolCalls }: ModelCallRequest['state'],
): LanguageModelV4ToolChoice {
  if (toolChoice === 'auto' || toolChoice === 'none') return { type: toolChoice };
  if (toolCalls.length > 0) return { type: 'auto' };
  if (toolChoice === 'required') return { type: 'required' };
  const { tool } = toolChoice;
  // Hooks may have removed the tool.
  return offered.some(({ name }) => name === tool) ? { type: 'tool', toolName: tool } : { type: 'auto' };
}

function priceOf(
  { pricing }: Pick<GuardedModel, 'pricing'>,
  usage: ModelAnswer['usage'],
): number | undefined {
  const { input_tokens: input, output_tokens: output } = usage;
  if (pricing === undefined || input === null || output === null) return undefined;
  return costOf({ input, output }, pricing) ?? undefined;
}

/** Whether text is held until the end, since a guardrail, the output schema or a stop hook may withhold it. */
export function isReleasedAtEnd(turn: TurnContext): boolean {
  const { stream, guardrails, outputSchema } = turn.chat.step;
  if (stream === undefined) return false;
  return (
    outputSchema !== undefined || guardrails.some(({ action }) => action === 'enforce') || isAskedAtEnd(turn)
  );
}

function isAskedAtEnd(turn: TurnContext): boolean {
  const { links } = turn.run;
  if (links.length === 0) return false;
  const hookContext = hookContextOf(turn);
  const about = { hook: 'turn', phase: 'stop', response: '', end: 'final_response' } as const;
  const event = { ...about, turn: toTurn(turn) };
  return links.some(({ group: { dialect, members } }) =>
    dialect.pointsAt(event).some((point) => {
      if (dialect.points[point]?.isFilter !== true) return false;
      const question = {
        point,
        payload: dialect.describe(point, event, hookContext),
        hookContext,
      };
      return members.some(
        ({ entry }) => dialect.selects(entry, question) && !dialect.isBackground(entry, point),
      );
    }),
  );
}
