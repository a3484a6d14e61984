import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import type { HttpProviderType } from '../../config/provider-types.ts';
import { unusable } from './credential.ts';
import { withOptions } from './defaults.ts';
import { readEndpoint } from './endpoint.ts';
import { exactFetch, withExactInput } from './exact-fetch.ts';

/** Where and as whom an API is called. */
export interface Access {
  readonly baseUrl: string;
  /** Absent: no credential is sent. */
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** A kind of API that is called over HTTP. */
export interface Kind {
  /** Environment variables that hold its key where the entry names none. */
  readonly variables: readonly string[];
  readonly needsKey: boolean;
  /** Throws PROVIDER_UNUSABLE. */
  readonly baseUrl: (config: ProviderConfig) => string;
  /** Imports the package. */
  readonly open: (config: ProviderConfig, access: Access) => Promise<LanguageModelV4>;
}

const openai: Kind = {
  variables: ['OPENAI_API_KEY', 'OPENAI_TOKEN'],
  needsKey: true,
  baseUrl: (config) => readEndpoint(config, { usual: 'https://api.openai.com', version: '/v1' }),
  open: async (config, { baseUrl, apiKey = '', headers, fetch }) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch });
    return usesResponses(config, baseUrl)
      ? withoutStorage(provider.responses(config.model))
      : provider.chat(config.model);
  },
};

const claude: Kind = {
  variables: ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'],
  needsKey: true,
  baseUrl: (config) => readEndpoint(config, { usual: 'https://api.anthropic.com', version: '/v1' }),
  open: async (config, { baseUrl, apiKey = '', headers, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const settings = { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch: exactFetch(fetch) };
    return withExactInput(createAnthropic(settings)(config.model));
  },
};

const gemini: Kind = {
  variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  needsKey: true,
  baseUrl: (config) =>
    readEndpoint(config, { usual: 'https://generativelanguage.googleapis.com', version: '/v1beta' }),
  open: async (config, { baseUrl, apiKey = '', headers, fetch }) => {
    const { createGoogle } = await import('@ai-sdk/google');
    const settings = { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch: exactFetch(fetch) };
    return withExactInput(createGoogle(settings)(config.model));
  },
};

const compatible: Kind = {
  variables: [],
  needsKey: false,
  baseUrl: (config) => readEndpoint(config, {}),
  open: async (config, { baseUrl, apiKey, headers, fetch }) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const provider = createOpenAICompatible({
      name: config.type,
      baseURL: baseUrl,
      headers: { ...headers },
      fetch,
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    return provider(config.model);
  },
};

/** Addresses without a path mean the server itself, as in PromptKit. */
const ollama: Kind = {
  ...compatible,
  baseUrl: (config) =>
    readEndpoint(config, { usual: 'http://localhost:11434', version: '/v1', anyHost: true }),
};

const vllm: Kind = {
  ...compatible,
  baseUrl: (config) =>
    readEndpoint(config, { usual: 'http://localhost:8000', version: '/v1', anyHost: true }),
};

const byType: Readonly<Record<HttpProviderType, Kind>> = {
  openai,
  claude,
  anthropic: claude,
  gemini,
  google: gemini,
  ollama,
  vllm,
  'openai-compatible': compatible,
};

/** Every kind of API by the names that an entry may call it. */
export const kinds: ReadonlyMap<string, Kind> = new Map(Object.entries(byType));

/** `additional_config.api_mode` decides; else OpenAI itself gets its Responses API, and its likenesses Chat Completions. */
function usesResponses({ id, model, additionalConfig }: ProviderConfig, baseUrl: string): boolean {
  const { api_mode: mode } = additionalConfig;
  if (mode === undefined) return model === 'o1-pro' || new URL(baseUrl).hostname === 'api.openai.com';
  const usesIt = typeof mode === 'string' ? apiModes.get(mode.toLowerCase()) : undefined;
  if (usesIt !== undefined) return usesIt;
  throw unusable(id, `additional_config.api_mode must be one of: ${[...apiModes.keys()].join(', ')}`);
}

/** PromptKit's words, and whether they mean the Responses API. */
const apiModes: ReadonlyMap<string, boolean> = new Map([
  ['responses', true],
  ['completions', false],
  ['chat_completions', false],
  ['legacy', false],
]);

/** Answers are not kept at OpenAI, and later rounds send them whole, unless a call says otherwise. */
function withoutStorage(model: LanguageModelV4): LanguageModelV4 {
  return withOptions(model, (options) => ({
    ...options,
    providerOptions: {
      ...options.providerOptions,
      openai: { store: false, ...options.providerOptions?.['openai'] },
    },
  }));
}
