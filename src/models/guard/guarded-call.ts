import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { KeepCall } from '../../contract/decision.ts';
import type { OperationFacts } from '../../contract/event.ts';
import type { Decision } from '../../contract/hook.ts';
import { currentOperation, trackedOperation } from '../../contract/operation.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { finishWord, fromAnswer, type ModelAnswer, toAnswer } from '../messages/answer.ts';
import { fromPrompt, roundOf, toPrompt } from '../messages/prompt.ts';
import { listTools, replaceTools, toModelOptions } from '../messages/tools.ts';
import { knownUsage } from '../spending/cost.ts';
import {
  reportDecisions,
  tokenCounts,
  withReport,
  withTextlessReport,
  zeroUsage,
} from './decision-report.ts';
import {
  askHooks,
  type BeforeCall,
  createAfterCallEvent,
  createFaultRefusal,
  type Fire,
  type GuardOutcome,
  type Refusal,
  type SubstituteAnswer,
} from './guard-outcome.ts';
import { createUniqueToolCallIds } from './stream-collector.ts';

export interface ModelCall {
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
}

export interface CallSettings {
  readonly fire: Fire;
  readonly providerId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly select?: ((name: string) => Promise<LanguageModelV4>) | undefined;
  readonly keepCall?: KeepCall | undefined;
}

export interface AdmittedCall {
  readonly kind: 'admit';
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
  readonly request: ProviderRequest;
  readonly decision: Decision;
}

type StoppedCall = Exclude<GuardOutcome<BeforeCall>, { readonly kind: 'pass' }>;

export async function runBeforeCall(
  call: ModelCall,
  settings: CallSettings,
): Promise<AdmittedCall | StoppedCall> {
  const params = withoutOwnOptions(call.params);
  const request = readRequest(call, settings.providerId);
  if ('kind' in request) return request;
  const event: BeforeCall = { hook: 'provider', phase: 'before_call', request };
  const outcome = await askHooks(settings.fire, event, { signal: settings.signal });
  if (outcome.kind !== 'pass') return outcome;
  const filtered = outcome.event.request;
  const prompt = replacePrompt(params.prompt, { sent: request, filtered, decision: outcome.decision });
  if ('kind' in prompt) return prompt;
  const model = await selectModel(call, { sent: request, filtered, decision: outcome.decision }, settings);
  if ('kind' in model) return model;
  return {
    kind: 'admit',
    model,
    params: { ...replaceSettings(params, request, filtered), prompt: prompt.prompt },
    request: filtered,
    decision: outcome.decision,
  };
}

async function selectModel(
  { model }: ModelCall,
  { sent, filtered, decision }: Replacement,
  { select }: CallSettings,
): Promise<LanguageModelV4 | Refusal> {
  if (filtered.model === sent.model) return model;
  try {
    if (select !== undefined) return await select(filtered.model);
    throw new RuntimeError('REPLY_MALFORMED', 'a guard of a single model cannot change the model');
  } catch (error) {
    return createFaultRefusal('before_call', error, decision);
  }
}

function replaceSettings(
  params: LanguageModelV4CallOptions,
  sent: ProviderRequest,
  { tools, options }: ProviderRequest,
): LanguageModelV4CallOptions {
  const { max_tokens, temperature } = options ?? {};
  return {
    ...params,
    ...(tools !== undefined && tools !== sent.tools && withTools(params, tools)),
    ...(max_tokens !== undefined && { maxOutputTokens: max_tokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

function withTools(
  params: LanguageModelV4CallOptions,
  filtered: NonNullable<ProviderRequest['tools']>,
): Partial<LanguageModelV4CallOptions> {
  const tools = replaceTools(params, filtered);
  const { toolChoice: choice } = params;
  const isGone = choice?.type === 'tool' && tools.every(({ name }) => name !== choice.toolName);
  const isIdle = tools.length === 0 && choice?.type === 'required';
  return { tools, ...((isGone || isIdle) && { toolChoice: { type: 'auto' as const } }) };
}

function withoutOwnOptions({
  providerOptions,
  ...params
}: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { signalbox: _, ...others } = providerOptions ?? {};
  const isEmpty = Object.keys(others).length === 0;
  // Raw chunks are the answer in a form that no filter reads.
  return { ...params, includeRawChunks: false, ...(!isEmpty && { providerOptions: others }) };
}

/** Refuses if a file cannot be read, since hooks could not check it. */
function readRequest(call: ModelCall, providerId: string | undefined): ProviderRequest | Refusal {
  try {
    return toProviderRequest(call, providerId);
  } catch (error) {
    return createFaultRefusal('before_call', error);
  }
}

function toProviderRequest({ model, params }: ModelCall, providerId: string | undefined): ProviderRequest {
  const { messages, system_prompt } = fromPrompt(params.prompt);
  const metadata = params.providerOptions?.['signalbox']?.['metadata'];
  return {
    provider_id: providerId ?? model.provider,
    model: model.modelId,
    messages,
    system_prompt,
    round: roundOf(params.prompt),
    metadata: isObject(metadata) ? metadata : {},
    tools: listTools(params),
    options: toModelOptions(params),
  };
}

interface Replacement {
  readonly sent: ProviderRequest;
  readonly filtered: ProviderRequest;
  readonly decision: Decision;
}

function replacePrompt(
  prompt: LanguageModelV4Prompt,
  { sent, filtered, decision }: Replacement,
): { readonly prompt: LanguageModelV4Prompt } | Refusal {
  try {
    return { prompt: toPrompt(filtered, { prompt, messages: sent.messages }) };
  } catch (error) {
    return createFaultRefusal('before_call', error, decision);
  }
}

export type AnswerOutcome =
  | { readonly kind: 'same'; readonly decision: Decision; readonly message: ChatMessage }
  | {
      readonly kind: 'replaced';
      readonly decision: Decision;
      readonly message: ChatMessage;
      readonly content: LanguageModelV4Content[];
      readonly finishReason: LanguageModelV4FinishReason;
    }
  | { readonly kind: 'answer'; readonly decision: Decision; readonly answer: SubstituteAnswer }
  | Refusal;

interface AfterCallOptions {
  readonly fire: Fire;
  readonly admitted: Pick<AdmittedCall, 'request'>;
  readonly latencyMs: number;
  readonly signal: AbortSignal | undefined;
}

export async function runAfterCall(answer: ModelAnswer, options: AfterCallOptions): Promise<AnswerOutcome> {
  try {
    const { fire, admitted, latencyMs, signal } = options;
    const message = fromAnswer(answer);
    const event = createAfterCallEvent({ request: admitted.request, message, latencyMs });
    const outcome = await askHooks(fire, event, { signal });
    if (outcome.kind !== 'pass') return outcome;
    const { decision } = outcome;
    const filtered = outcome.event.response.message;
    if (filtered === message) return { kind: 'same', decision, message };
    try {
      return { kind: 'replaced', decision, message: filtered, ...toAnswer(filtered, { ...answer, message }) };
    } catch (error) {
      return createFaultRefusal('after_call', error, decision);
    }
  } catch (error) {
    return createFaultRefusal('after_call', error);
  }
}

type Result = LanguageModelV4GenerateResult;

/** Throws DENIED, or what the model throws. */
export async function generateGuarded(call: ModelCall, settings: CallSettings): Promise<Result> {
  const { signal } = settings;
  const admitted = await runBeforeCall(call, settings);
  signal?.throwIfAborted();
  if (admitted.kind === 'refuse') throw admitted.error;
  if (admitted.kind === 'answer') {
    const { text, finishReason } = admitted.answer;
    const report = reportDecisions({ before: admitted.decision });
    return { ...textResult(text), finishReason, usage: zeroUsage, warnings: [], providerMetadata: report };
  }
  const keep = openKeeping(admitted, settings);
  try {
    const startedAt = performance.now();
    const result = await callModel(admitted);
    const latencyMs = Math.round(performance.now() - startedAt);
    const outcome = await runAfterCall(result, { fire: settings.fire, admitted, latencyMs, signal });
    if (outcome.kind === 'refuse') signal?.throwIfAborted();
    keep(answersOf(outcome));
    return toResult(result, admitted, outcome);
  } finally {
    keep([]);
  }
}

/** Records the call with its answers; only the first ones count. */
export function openKeeping(
  { request }: Pick<AdmittedCall, 'request'>,
  { keepCall }: Pick<CallSettings, 'keepCall'>,
): (answers: readonly ChatMessage[]) => void {
  const origin = currentOperation();
  let isKept = false;
  return (answers) => {
    if (!isKept) keepCall?.({ request, answers, origin });
    isKept = true;
  };
}

/** The answer as the hooks left it. */
export function answersOf(outcome: AnswerOutcome): ChatMessage[] {
  switch (outcome.kind) {
    case 'same':
    case 'replaced':
      return [outcome.message];
    case 'answer':
      return [{ role: 'assistant', content: outcome.answer.text }];
    case 'refuse':
      return [];
  }
}

async function callModel({ model, params }: AdmittedCall): Promise<Result> {
  try {
    const result = await model.doGenerate(params);
    const content = createUniqueToolCallIds(params.prompt).content(result.content);
    trackedOperation()?.note(answerFacts(result));
    return { ...result, content, usage: knownUsage(result.usage) };
  } catch (error) {
    throw withoutAnswerText(error);
  }
}

function toResult(result: Result, { decision: before }: AdmittedCall, outcome: AnswerOutcome): Result {
  switch (outcome.kind) {
    case 'refuse':
      throw outcome.error;
    case 'same': {
      const report = withReport(result.providerMetadata, { before, after: outcome.decision });
      return { ...withSeenOutput(result), providerMetadata: report };
    }
    case 'replaced': {
      const { content, finishReason, decision } = outcome;
      return {
        ...withoutQuotes(result),
        content,
        finishReason,
        providerMetadata: withTextlessReport(result.providerMetadata, { before, after: decision }),
      };
    }
    case 'answer': {
      const { answer, decision } = outcome;
      const report = reportDecisions({ before, after: decision });
      const { finishReason } = answer;
      return { ...withoutQuotes(result), ...textResult(answer.text), finishReason, providerMetadata: report };
    }
  }
}

function textResult(text: string): Pick<Result, 'content'> {
  return { content: text === '' ? [] : [{ type: 'text', text }] };
}

/** Removes a structured-output text that hooks have not seen. */
function withSeenOutput(result: Result): Result {
  const { structuredOutputText: output, ...rest } = result;
  const isSeen = output !== undefined && textOf(result).includes(output);
  return isSeen ? result : rest;
}

function textOf({ content }: Result): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function withoutQuotes({ usage, response, warnings }: Result): Omit<Result, 'content' | 'finishReason'> {
  const { id, timestamp, modelId } = response ?? {};
  return {
    usage: tokenCounts(usage),
    warnings,
    response: {
      ...(id !== undefined && { id }),
      ...(timestamp !== undefined && { timestamp }),
      ...(modelId !== undefined && { modelId }),
    },
  };
}

/** Hides parse errors, which quote an answer that no hook has seen. Other errors pass, so that callers can retry. */
export function withoutAnswerText(thrown: unknown): unknown {
  if (!quotesAnswer(thrown)) return thrown;
  return new RuntimeError('PROVIDER_FAILED', 'the model’s answer could not be read', {
    hint: 'The answer itself is withheld, because no hook has seen it.',
  });
}

const quotingErrors = new Set([
  'AI_TypeValidationError',
  'AI_JSONParseError',
  'AI_InvalidResponseDataError',
  'AI_NoContentGeneratedError',
  'AI_NoObjectGeneratedError',
]);

function quotesAnswer(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; isObject(error); depth++) {
    const { name, statusCode: status, cause, errors } = error;
    if (typeof name === 'string' && quotingErrors.has(name)) return true;
    if (typeof status === 'number' && status < 300) return true;
    if (Array.isArray(errors) && errors.some(quotesAnswer)) return true;
    // A chain of causes may be circular.
    if (depth > 16) return true;
    error = cause;
  }
  return false;
}

export function answerFacts({
  usage,
  finishReason,
}: Pick<Result, 'usage' | 'finishReason'>): Pick<
  OperationFacts,
  'inputTokens' | 'outputTokens' | 'cachedTokens' | 'finishReason'
> {
  const { inputTokens, outputTokens } = knownUsage(usage);
  return {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    cachedTokens: inputTokens.cacheRead,
    finishReason: finishWord(finishReason),
  };
}
