import type { ProviderConfig } from '../../config/config.ts';

/** The address, credential and transport of API calls. */
export interface ApiAccess {
  readonly baseUrl: string;
  /** Absent: no credential is sent. */
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** The AI SDK's package for OpenAI, with that access. */
export async function openOpenAi({ baseUrl, apiKey = '', headers, fetch }: ApiAccess) {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return createOpenAI({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch });
}

/** Its package for Gemini. */
export async function openGoogle({ baseUrl, apiKey = '', headers, fetch }: ApiAccess) {
  const { createGoogle } = await import('@ai-sdk/google');
  return createGoogle({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch });
}

/** Its package for APIs that speak as OpenAI's does. */
export async function openCompatible(
  { type }: ProviderConfig,
  { baseUrl, apiKey, headers, fetch }: ApiAccess,
) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: type,
    baseURL: baseUrl,
    headers: { ...headers },
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
}
