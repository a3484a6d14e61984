import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';

/** The model, with the entry's sampling settings where a call has none of its own, and with a signal for all calls. */
export function withDefaults(
  model: LanguageModelV4,
  { temperature, topP, maxTokens }: ProviderConfig['defaults'],
  signal: AbortSignal | undefined,
): LanguageModelV4 {
  const complete = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
    ...options,
    ...pick('temperature', options.temperature ?? temperature),
    ...pick('topP', options.topP ?? topP),
    ...pick('maxOutputTokens', options.maxOutputTokens ?? maxTokens),
    ...pick('abortSignal', eitherOf(options.abortSignal, signal)),
  });
  return withOptions(model, complete);
}

/** The model, with every call's options changed. */
export function withOptions(
  model: LanguageModelV4,
  change: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(change(options)),
    doStream: (options) => model.doStream(change(options)),
  };
}

function pick<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>>;
function pick(key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [key]: value };
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}
