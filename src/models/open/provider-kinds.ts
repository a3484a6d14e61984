import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import type { HttpProviderType } from '../../config/provider-types.ts';
import { wrapModel } from '../wrapped-model.ts';
import { type ApiAccess, openCompatible, openGoogle, openOpenAi } from './api-packages.ts';
import { unusableError } from './credential.ts';
import { readEndpoint } from './endpoint.ts';
import { createExactFetch, withExactInput } from './exact-numbers.ts';

/** A kind of API that is called over HTTP. */
export interface ProviderKind {
  /** Environment variables that hold its key where the entry names none. */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  /** Throws PROVIDER_UNUSABLE. */
  readonly baseUrl: (config: ProviderConfig) => string;
  /** Imports the package. */
  readonly open: (config: ProviderConfig, access: ApiAccess) => Promise<LanguageModelV4>;
  /** Imports the package for a model that embeds; absent: the API has none. */
  readonly embed?: (config: ProviderConfig, access: ApiAccess) => Promise<EmbeddingModelV4>;
}

const openai: ProviderKind = {
  keyVariables: ['OPENAI_API_KEY', 'OPENAI_TOKEN'],
  needsKey: true,
  baseUrl: (config) => readEndpoint(config, { origin: 'https://api.openai.com', versionPath: '/v1' }),
  open: async (config, access) => {
    const provider = await openOpenAi(access);
    return usesResponses(config, access.baseUrl)
      ? withoutStorage(provider.responses(config.model))
      : provider.chat(config.model);
  },
  embed: async ({ model }, access) => (await openOpenAi(access)).embedding(model),
};

const claude: ProviderKind = {
  keyVariables: ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'],
  needsKey: true,
  baseUrl: (config) =>
    readEndpoint(config, {
      origin: 'https://api.anthropic.com',
      versionPath: '/v1',
      // As Anthropic's own packages read their base URL.
      appliesToAnyHost: true,
    }),
  open: async (config, { baseUrl, apiKey = '', headers, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const settings = { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch: createExactFetch(fetch) };
    return withExactInput(createAnthropic(settings)(config.model));
  },
};

const gemini: ProviderKind = {
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  needsKey: true,
  baseUrl: (config) =>
    readEndpoint(config, { origin: 'https://generativelanguage.googleapis.com', versionPath: '/v1beta' }),
  open: async ({ model }, access) => {
    const provider = await openGoogle({ ...access, fetch: createExactFetch(access.fetch) });
    return withExactInput(provider(model));
  },
  embed: async ({ model }, access) => (await openGoogle(access)).embedding(model),
};

const compatible: ProviderKind = {
  keyVariables: [],
  needsKey: false,
  baseUrl: (config) => readEndpoint(config, {}),
  open: async (config, access) => (await openCompatible(config, access))(config.model),
  embed: async (config, access) => (await openCompatible(config, access)).embeddingModel(config.model),
};

/** Addresses without a path mean the server itself, as in PromptKit. */
const ollama: ProviderKind = {
  ...compatible,
  baseUrl: (config) =>
    readEndpoint(config, { origin: 'http://localhost:11434', versionPath: '/v1', appliesToAnyHost: true }),
};

const vllm: ProviderKind = {
  ...compatible,
  baseUrl: (config) =>
    readEndpoint(config, { origin: 'http://localhost:8000', versionPath: '/v1', appliesToAnyHost: true }),
};

const byType: Readonly<Record<HttpProviderType, ProviderKind>> = {
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
export const providerKinds: ReadonlyMap<string, ProviderKind> = new Map(Object.entries(byType));

/**
 * By `additional_config.api_mode`; without it, api.openai.com gets the Responses API, others Chat
 * Completions.
 */
function usesResponses({ id, model, additionalConfig }: ProviderConfig, baseUrl: string): boolean {
  const { api_mode: mode } = additionalConfig;
  if (mode === undefined) return model === 'o1-pro' || new URL(baseUrl).hostname === 'api.openai.com';
  const usesIt = typeof mode === 'string' ? apiModes.get(mode.toLowerCase()) : undefined;
  if (usesIt !== undefined) return usesIt;
  throw unusableError(id, `additional_config.api_mode must be one of: ${[...apiModes.keys()].join(', ')}`);
}

/** PromptKit's words, and whether they mean the Responses API. */
const apiModes: ReadonlyMap<string, boolean> = new Map([
  ['responses', true],
  ['completions', false],
  ['chat_completions', false],
  ['legacy', false],
]);

/**
 * Sets `store: false`: answers are not stored at OpenAI, so later rounds send them whole; a call may override
 * it.
 */
function withoutStorage(model: LanguageModelV4): LanguageModelV4 {
  return wrapModel(model, {
    transformParams: async ({ params }) => ({
      ...params,
      providerOptions: {
        ...params.providerOptions,
        openai: { store: false, ...params.providerOptions?.['openai'] },
      },
    }),
  });
}
