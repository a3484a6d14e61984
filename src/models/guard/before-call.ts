import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ProviderRequest } from '../../contract/provider.ts';
import { fromPrompt, roundOf, toPrompt } from '../messages/prompt.ts';
import { listTools, replaceTools, toModelOptions } from '../messages/tools.ts';
import {
  askHooks,
  type BeforeCall,
  createFaultRefusal,
  type Fire,
  type GuardOutcome,
  type Refusal,
} from './guard-outcome.ts';

/** A model call as the AI SDK hands it to a middleware. */
export interface ModelCall {
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
}

export interface CallSettings {
  readonly fire: Fire;
  readonly providerId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Opens the model that a hook has named; absent: hooks cannot choose the model. */
  readonly select?: ((name: string) => Promise<LanguageModelV4>) | undefined;
}

/** A call that the before_call hooks admitted. */
export interface AdmittedCall {
  readonly kind: 'admit';
  readonly model: LanguageModelV4;
  /** What the model is to be called with. */
  readonly params: LanguageModelV4CallOptions;
  /** The request after the filters' changes. */
  readonly request: ProviderRequest;
  readonly decision: Decision;
}

type StoppedCall = Exclude<GuardOutcome<BeforeCall>, { readonly kind: 'pass' }>;

/** Runs the before_call hooks: an admitted call, a substitute answer or a refusal. */
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

/** The model that a hook has named; a refusal when it is not available, never another model. */
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

/** The params with the tools and options that hooks have changed. */
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

/** The tools as hooks left them; a tool that they took away cannot be asked for. */
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

/** The params without `providerOptions.signalbox`, which is not for the provider. */
function withoutOwnOptions({
  providerOptions,
  ...params
}: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { signalbox: _, ...others } = providerOptions ?? {};
  const isEmpty = Object.keys(others).length === 0;
  // Raw chunks are the answer in a form that no filter reads.
  return { ...params, includeRawChunks: false, ...(!isEmpty && { providerOptions: others }) };
}

/** The request for hooks; a refusal when a file cannot be read, since hooks could not check it. */
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
