import type { LanguageModelV4 } from '@ai-sdk/provider';

/** A declared provider. Its package is imported, and its credential read, when its model is first asked for. */
export interface Provider {
  readonly id: string;
  /** The model's name at its API. */
  readonly modelName: string;
  /**
   * The model, with the provider's defaults, request timeout and retries around it; the same one each time.
   * Throws PROVIDER_UNUSABLE; its calls throw PROVIDER_FAILED, PROVIDER_TIMEOUT, REPLAY_MISS, ABORTED.
   */
  model(): Promise<LanguageModelV4>;
}
