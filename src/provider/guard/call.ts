import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { fromPrompt, toPrompt } from '../messages/prompt.ts';
import { listTools, replaceTools, toModelOptions } from '../messages/tools.ts';
import {
  type AfterCall,
  askHooks,
  type BeforeCall,
  type Fire,
  type Refusal,
  type Ruling,
  refuseFault,
} from './verdict.ts';

/** A model call as the AI SDK hands it to a middleware. */
export interface ModelCall {
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
}

export interface CallSettings {
  readonly fire: Fire;
  readonly providerId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The model that a hook has asked for by name; absent: hooks cannot choose. */
  readonly select?: ((name: string) => Promise<LanguageModelV4>) | undefined;
}

/** A call that the hooks let pass. */
export interface Admitted {
  readonly kind: 'admit';
  readonly model: LanguageModelV4;
  /** What the model is to be called with. */
  readonly params: LanguageModelV4CallOptions;
  /** The request as the filters left it. */
  readonly request: ProviderRequest;
  readonly decision: Decision;
}

type Before = Exclude<Ruling<BeforeCall>, { readonly kind: 'pass' }>;

/** Takes the call through before_call: what the model may be called with, or who answers in its place. */
export async function admitCall(call: ModelCall, settings: CallSettings): Promise<Admitted | Before> {
  const params = ownParams(call.params);
  const request = readRequest(call, settings.providerId);
  if ('kind' in request) return request;
  const event: BeforeCall = { hook: 'provider', phase: 'before_call', request };
  const ruling = await askHooks(settings.fire, event, { signal: settings.signal });
  if (ruling.kind !== 'pass') return ruling;
  const left = ruling.event.request;
  const prompt = replacePrompt(params.prompt, { sent: request, left, decision: ruling.decision });
  if ('kind' in prompt) return prompt;
  const model = await selectModel(call, { sent: request, left, decision: ruling.decision }, settings);
  if ('kind' in model) return model;
  return {
    kind: 'admit',
    model,
    params: { ...replaceSettings(params, request, left), prompt: prompt.prompt },
    request: left,
    decision: ruling.decision,
  };
}

/** A model that a hook has named; one that cannot be had must not be replaced by another in silence. */
async function selectModel(
  { model }: ModelCall,
  { sent, left, decision }: Replacement,
  { select }: CallSettings,
): Promise<LanguageModelV4 | Refusal> {
  if (left.model === sent.model) return model;
  try {
    if (select !== undefined) return await select(left.model);
    throw new RuntimeError('REPLY_MALFORMED', 'a guard of a single model cannot change the model');
  } catch (error) {
    return refuseFault('before_call', error, decision);
  }
}

/** The tools and options of a call as hooks left them. */
function replaceSettings(
  params: LanguageModelV4CallOptions,
  sent: ProviderRequest,
  { tools, options }: ProviderRequest,
): LanguageModelV4CallOptions {
  const { max_tokens, temperature } = options ?? {};
  return {
    ...params,
    ...(tools !== undefined && tools !== sent.tools && { tools: replaceTools(params, tools) }),
    ...(max_tokens !== undefined && { maxOutputTokens: max_tokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

/** The options without ours, which are no provider's business. */
function ownParams({ providerOptions, ...params }: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { signalbox: _, ...others } = providerOptions ?? {};
  const isEmpty = Object.keys(others).length === 0;
  // Raw chunks are the answer in a form that no filter reads.
  return { ...params, includeRawChunks: false, ...(!isEmpty && { providerOptions: others }) };
}

/** Hooks that cannot be shown what a file holds cannot let it pass. */
function readRequest(call: ModelCall, providerId: string | undefined): ProviderRequest | Refusal {
  try {
    return requestOf(call, providerId);
  } catch (error) {
    return refuseFault('before_call', error);
  }
}

function requestOf({ model, params }: ModelCall, providerId: string | undefined): ProviderRequest {
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

/** A turn begins with what the user said last. */
function roundOf(prompt: LanguageModelV4Prompt): number {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
  return 1 + turn.filter(({ role }) => role === 'assistant').length;
}

interface Replacement {
  readonly sent: ProviderRequest;
  readonly left: ProviderRequest;
  readonly decision: Decision;
}

function replacePrompt(
  prompt: LanguageModelV4Prompt,
  { sent, left, decision }: Replacement,
): { readonly prompt: LanguageModelV4Prompt } | Refusal {
  try {
    return { prompt: toPrompt(left, { prompt, messages: sent.messages }) };
  } catch (error) {
    return refuseFault('before_call', error, decision);
  }
}

export interface Answered {
  readonly request: ProviderRequest;
  readonly message: ChatMessage;
  readonly latencyMs: number;
}

/** The event that tells hooks of an answer, or of a part of one. */
export function answerEvent({ request, message, latencyMs }: Answered): AfterCall {
  const { provider_id, model, round } = request;
  const response = { provider_id, model, message, round, latency_ms: latencyMs };
  return { hook: 'provider', phase: 'after_call', request, response };
}
