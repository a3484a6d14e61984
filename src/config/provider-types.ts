/** APIs that are called over HTTP, by the names that an entry may call them. */
const httpProviderTypes = [
  'openai',
  'claude',
  'anthropic',
  'gemini',
  'google',
  'ollama',
  'vllm',
  'openai-compatible',
] as const;

/** Everything that `type` of a provider may be. */
export const providerTypes: readonly string[] = [...httpProviderTypes, 'mock', 'replay'];

export type HttpProviderType = (typeof httpProviderTypes)[number];
