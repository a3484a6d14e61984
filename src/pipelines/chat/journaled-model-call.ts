import type { LanguageModelV4CallOptions, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { HookContext } from '../../contract/turn.ts';
import { toPrompt } from '../../models/messages/prompt.ts';
import { toFunctionTool } from '../../models/messages/tools.ts';
import type { OnRetry } from '../../models/open/retry-listener.ts';
import { costOf } from '../../models/spending/cost.ts';
import type { ChatStep } from '../file/pipeline.ts';
import { answerRecord, type ModelAnswer } from '../state/answer-record.ts';
import { journalStep } from '../state/record.ts';
import type { GuardedModel, ModelCallParameters, RunContext } from '../state/run-context.ts';
import { callModel } from './model-call.ts';

interface ModelCallRequest {
  readonly step: ChatStep;
  readonly state: {
    readonly system: string;
    readonly messages: readonly ChatMessage[];
    readonly offered: readonly ToolListing[];
    /** Undefined: the provider's own. */
    readonly model: string | undefined;
    readonly options: ModelOptions;
    /** The calls of the turn so far. */
    readonly toolCalls: readonly unknown[];
  };
  readonly hookContext: HookContext;
  readonly signal: AbortSignal;
  /** Called after the before_call hooks allowed the call, just before the model is called. */
  readonly onCall: (asked: ModelCallParameters) => void;
  readonly onRetry: OnRetry;
  /** Called when the answer is new, not read from the journal. */
  readonly onAnswer: () => void;
  /** Whether a kept failure is one after which the step is tried again: the call is then made anew. */
  readonly isRetried: () => boolean;
  /** Called with streamed text as the guard releases it. */
  readonly onText: (text: string) => void;
}

/**
 * Calls the model, or returns the journaled answer. A failed call is journaled and returned as `error`.
 * Throws ABORTED.
 */
export async function journalModelCall(
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
  return new RuntimeError('ABORTED', 'the model call was given up', { cause });
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
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the model call was given up');
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

/** A choice that forces a call would never let the model answer, so it ends with the first calls. */
function toToolChoice(
  { toolChoice = 'auto' }: ChatStep,
  { offered, toolCalls }: ModelCallRequest['state'],
): LanguageModelV4ToolChoice {
  if (toolChoice === 'auto' || toolChoice === 'none') return { type: toolChoice };
  if (toolCalls.length > 0) return { type: 'auto' };
  if (toolChoice === 'required') return { type: 'required' };
  const { tool } = toolChoice;
  // Hooks may have taken it away.
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
