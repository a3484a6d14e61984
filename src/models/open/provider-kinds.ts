import { randomUUID } from 'node:crypto';
import type { EmbeddingModelV4, LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isObject, parseLossless } from '../../base/json/json.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { HttpProviderType } from '../../config/provider-types.ts';
import { wrapModel } from '../wrapped-model.ts';
import { unusableError } from './credential.ts';

export interface ProviderKind {
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  readonly baseUrl: (config: ProviderConfig) => string;
  readonly open: (config: ProviderConfig, access: ApiAccess) => Promise<LanguageModelV4>;
  /** Imports the package for an embedding model. Absent: the API has none. */
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
      // Anthropic's own packages read their base URL in this way.
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

/** A URL without a path is the server's root, as in PromptKit. */
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

export const providerKinds: ReadonlyMap<string, ProviderKind> = new Map(Object.entries(byType));

/** Without `additional_config.api_mode`, only api.openai.com and the model o1-pro use the Responses API. */
function usesResponses({ id, model, additionalConfig }: ProviderConfig, baseUrl: string): boolean {
  const { api_mode: mode } = additionalConfig;
  if (mode === undefined) return model === 'o1-pro' || new URL(baseUrl).hostname === 'api.openai.com';
  const usesIt = typeof mode === 'string' ? apiModes.get(mode.toLowerCase()) : undefined;
  if (usesIt !== undefined) return usesIt;
  throw unusableError(id, `additional_config.api_mode must be one of: ${[...apiModes.keys()].join(', ')}`);
}

/** PromptKit's words. True selects the Responses API. */
const apiModes: ReadonlyMap<string, boolean> = new Map([
  ['responses', true],
  ['completions', false],
  ['chat_completions', false],
  ['legacy', false],
]);

/** With `store: false`, OpenAI does not store answers, so later rounds send them whole. A call may override it. */
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

interface EndpointDefaults {
  readonly origin?: string;
  readonly versionPath?: string;
  /** The version path is added to other hosts as well if the entry gives no path. */
  readonly appliesToAnyHost?: boolean;
}

function readEndpoint(
  config: ProviderConfig,
  { origin: usual, versionPath = '', appliesToAnyHost }: EndpointDefaults,
): string {
  const { baseUrl } = config;
  if (baseUrl === undefined && usual !== undefined) return usual + versionPath;
  if (baseUrl === undefined) throw unusableError(config.id, `${config.type} needs a base_url`);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw unusableError(config.id, 'base_url must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw unusableError(config.id, 'base_url must be an address without a user, a query or a fragment');
  }
  const text = url.href.replace(/\/+$/, '');
  const isBare = url.pathname === '/';
  return isBare && (appliesToAnyHost || url.origin === usual) ? text + versionPath : text;
}

// Two packages parse the arguments of tool calls and write them again, which rounds long numbers. So `createExactFetch`
// marks such a number as a string, and `withExactInput` restores it in the result.

/** In JSON responses, preserves the digits of tool arguments for `withExactInput`. */
export function createExactFetch(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (!response.ok || response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = isStream ? markEvents(response.body) : markNumbers(await response.text());
    const headers = new Headers(response.headers);
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body, { status: response.status, statusText: response.statusText, headers });
  };
}

export function withExactInput(model: LanguageModelV4): LanguageModelV4 {
  return wrapModel(model, {
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      return { ...result, content: result.content.map(restorePart) };
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      const restore = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(restorePart(part)),
      });
      return { ...result, stream: result.stream.pipeThrough(restore) };
    },
  });
}

const mark = `exact-${randomUUID()}:`;
const marked = new RegExp(`"${mark}([^"]*)"`, 'g');

function restorePart<P extends { readonly type: string }>(part: P): P {
  // A structured answer may arrive as the arguments of a call, and is given as a text.
  if (part.type === 'text' && 'text' in part && typeof part.text === 'string') {
    return part.text.includes(mark) ? { ...part, text: part.text.replaceAll(marked, '$1') } : part;
  }
  if (part.type === 'tool-call' && 'input' in part && typeof part.input === 'string') {
    return { ...part, input: part.input.replaceAll(marked, '$1') };
  }
  if (part.type === 'tool-input-delta' && 'delta' in part && typeof part.delta === 'string') {
    return { ...part, delta: part.delta.replaceAll(marked, '$1') };
  }
  return part;
}

function markEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array> {
  let rest = '';
  const lines = new TransformStream<string, string>({
    transform: (chunk, controller) => {
      const complete = `${rest}${chunk}`.split('\n');
      rest = complete.pop() ?? '';
      for (const line of complete) controller.enqueue(`${markLine(line)}\n`);
    },
    flush: (controller) => controller.enqueue(markLine(rest)),
  });
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(lines).pipeThrough(new TextEncoderStream());
}

function markLine(line: string): string {
  return line.startsWith('data:') ? `data: ${markNumbers(line.slice('data:'.length).trim())}` : line;
}

const possiblyInexact = /\d[\d.]{15}|\d[eE][+-]?\d/;

function markNumbers(json: string): string {
  if (!possiblyInexact.test(json)) return json;
  try {
    return JSON.stringify(markTree(parseLossless(json), false));
  } catch {
    return json;
  }
}

/** Anthropic calls the arguments `input`, Gemini `args`. */
function markTree(value: unknown, isInput: boolean): unknown {
  if (Array.isArray(value)) return value.map((member) => markTree(member, isInput));
  if (!isObject(value)) return value;
  if (JSON.isRawJSON(value)) return isInput ? mark + value.rawJSON : value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    markTree(member, isInput || key === 'input' || key === 'args'),
  ]);
  return Object.fromEntries(members);
}

export interface ApiAccess {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

async function openOpenAi({ baseUrl, apiKey = '', headers, fetch }: ApiAccess) {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return createOpenAI({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch });
}

async function openGoogle({ baseUrl, apiKey = '', headers, fetch }: ApiAccess) {
  const { createGoogle } = await import('@ai-sdk/google');
  return createGoogle({ baseURL: baseUrl, apiKey, headers: { ...headers }, fetch });
}

async function openCompatible({ type }: ProviderConfig, { baseUrl, apiKey, headers, fetch }: ApiAccess) {
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
