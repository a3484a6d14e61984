import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import { wrapModel } from '../wrapped-model.ts';

/** The model, with the entry's sampling settings where a call has none of its own, and with a signal for all calls. */
export function withDefaults(
  model: LanguageModelV4,
  { temperature, topP, maxTokens }: ProviderConfig['defaults'],
  signal: AbortSignal | undefined,
): LanguageModelV4 {
  return wrapModel(model, {
    transformParams: async ({ params }) => ({
      ...params,
      ...pick('temperature', params.temperature ?? temperature),
      ...pick('topP', params.topP ?? topP),
      ...pick('maxOutputTokens', params.maxOutputTokens ?? maxTokens),
      ...pick('abortSignal', eitherOf(params.abortSignal, signal)),
    }),
  });
}

function pick<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>>;
function pick(key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [key]: value };
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}
