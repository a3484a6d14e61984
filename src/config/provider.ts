import { isObject } from '../base/json/json.ts';
import { longestMs } from '../base/time/async.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { as, type Fields, read, readFields, usual, usually } from '../base/yaml/fields.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';
import {
  exactValueAt,
  integerAt,
  itemsAt,
  nonEmptyTextAt,
  textAt,
  textsByNameAt,
  valueAt,
} from '../base/yaml/read.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import { duration } from './duration.ts';
import { providerRoles, whyNotRole } from './provider-types.ts';

const timeout = { ...duration, [read]: readTimeout } as const;

const scalarMap = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'], [usual]: '' },
  [read]: textsByNameAt,
  [usual]: {},
} as const;

/** Keys that PromptKit reads and Signalbox ignores. */
export const unusedProviderKeys = [
  'voice',
  'sample_rate',
  'audio_files',
  'pricing_correct_at',
  'include_raw_output',
  'capabilities',
  'unsupported_params',
  'http_transport',
] as const;

const providerKeys = {
  id: {
    type: 'string',
    minLength: 1,
    [read]: readId,
    [usual]: '',
    description: 'The name by which other entries refer to the provider. Default: its type.',
  },
  type: {
    type: 'string',
    minLength: 1,
    [usual]: '',
    description: 'Kind of API, such as openai, anthropic or mock.',
  },
  model: { type: 'string', minLength: 1, [usual]: '', description: 'The model’s name at that API.' },
  base_url: { type: 'string', description: 'Address of the API, if it is not the usual one.' },
  headers: { ...scalarMap, description: 'HTTP headers that go with every request.' },
  credential: {
    type: 'object',
    [usual]: {},
    description: 'Where the API key comes from.',
    additionalProperties: false,
    properties: {
      api_key: { type: 'string', description: 'The key itself; better kept out of the file.' },
      credential_file: { type: 'string', [as]: 'file', description: 'A file that holds the key.' },
      credential_env: {
        type: 'string',
        [as]: 'env',
        description: 'The environment variable that holds the key.',
      },
    },
  },
  defaults: {
    type: 'object',
    [usual]: {},
    description: 'Sampling settings for calls that set none of their own.',
    additionalProperties: false,
    properties: {
      temperature: { type: 'number', description: 'Randomness of the answer.' },
      top_p: { type: 'number', description: 'Share of the likeliest words to choose from.' },
      max_tokens: { type: 'integer', minimum: 1, description: 'Longest answer, in tokens.' },
      prompt_caching: {
        type: 'boolean',
        [read]: null,
        description: 'PromptKit’s switch for prompt caching. Not used.',
      },
    },
  },
  pricing: {
    type: 'object',
    description: 'What the model costs, for cost reports.',
    additionalProperties: false,
    properties: {
      input_cost_per_1k: { type: 'number', description: 'US dollars per 1,000 input tokens.' },
      output_cost_per_1k: { type: 'number', description: 'US dollars per 1,000 output tokens.' },
    },
  },
  request_timeout: {
    ...timeout,
    [as]: 'requestTimeoutMs',
    description: 'Longest duration of a request, such as 90s or 1m30s.',
  },
  rate_limit: {
    type: 'object',
    description:
      'Limits on calls to the API, for all processes together that share a state store in Postgres.',
    additionalProperties: false,
    properties: {
      rps: {
        type: 'number',
        minimum: 0,
        description: 'Calls per second, as in PromptKit; 0 means no limit.',
      },
      burst: usually(1, {
        type: 'integer',
        minimum: 0,
        description: 'Calls that may start at once after a pause; belongs to rps.',
      }),
      requests_per_minute: {
        type: 'integer',
        minimum: 1,
        description: 'Calls per minute, retries included.',
      },
      tokens_per_minute: {
        type: 'integer',
        minimum: 1,
        description:
          'Tokens of requests and answers together per minute: estimated before a call, and corrected by its usage.',
      },
    },
  },
  stream_idle_timeout: {
    ...timeout,
    description:
      'Longest silence of a stream that has begun, such as 30s. Default: request_timeout; at the gateway limits.idle_ms.',
  },
  stream_max_concurrent: {
    type: 'integer',
    [read]: (document: YamlDocument, path: Path) => integerAt(document, path),
    description:
      'Streams that one process may have open at once; others wait for a slot within request_timeout. 0 or less means no limit, as in PromptKit.',
  },
  stream_retry: {
    type: 'object',
    description:
      'Retries of streams before the first part of an answer, instead of additional_config.max_retries. The gateway makes none, because its clients retry.',
    additionalProperties: false,
    properties: {
      enabled: usually(false, { type: 'boolean', description: 'Whether streams are retried.' }),
      max_attempts: usually(2, { type: 'integer', description: 'Attempts, the first one included.' }),
      initial_delay: usually(
        250,
        { ...timeout, description: 'Wait before the first retry, doubled before each further one.' },
        '250ms',
      ),
      max_delay: usually(2000, { ...timeout, description: 'Longest wait.' }, '2s'),
      retry_window: {
        type: 'string',
        enum: ['pre_first_chunk'],
        description: 'Until when a stream is retried; no part of an answer is ever repeated.',
      },
      budget: {
        type: 'object',
        [usual]: {},
        description: 'How many retries all streams of a process may make together.',
        additionalProperties: false,
        properties: {
          rate_per_sec: { type: 'number', [usual]: 0, description: 'Retries per second; 0 means no limit.' },
          burst: {
            type: 'integer',
            [usual]: 0,
            description: 'Retries at once after a pause; 0 means no limit.',
          },
        },
      },
    },
  },
  fallback: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    uniqueItems: true,
    description:
      'Providers to try in order if this one is unreachable, too slow or overloaded. Each is followed by its own fallbacks.',
  },
  structured_output: {
    type: 'string',
    enum: ['schema', 'json', 'none'],
    description:
      'How the API receives the JSON Schema of a chat’s output. schema (default): the API enforces it. json: the API only has a JSON mode, so the prompt contains the schema. none: only the prompt contains it.',
  },
  stream_usage: {
    type: 'boolean',
    [read]: (document: YamlDocument, path: Path) => (valueAt(document, path) === false ? false : undefined),
    description:
      'Whether the gateway adds `stream_options.include_usage` if a key has a budget and its client left it out. Default: true. false: for an API that rejects it.',
  },
  additional_config: {
    type: 'object',
    [read]: (document: YamlDocument, path: Path) => {
      const settings = exactValueAt(document, path);
      return isObject(settings) ? settings : undefined;
    },
    [usual]: {},
    description: 'Settings of one kind of provider, such as mock’s responses.',
  },
  role: {
    type: 'string',
    [usual]: 'llm',
    description:
      'What the model does. llm (default): it answers. embedding: it turns texts into vectors. Any other of PromptKit’s roles is refused when it is used.',
  },
  platform: {
    type: 'object',
    [read]: null,
    description: 'A hosting platform. Not supported: a provider that names one is refused when it is used.',
  },
} as const;

export const providerSchema = {
  type: 'object',
  description: 'A model behind an API.',
  additionalProperties: false,
  required: ['type', 'model'],
  properties: {
    ...providerKeys,
    ...Object.fromEntries(
      unusedProviderKeys.map((key) => [key, { description: `PromptKit’s ${key}. Not used.` }]),
    ),
  },
};

type ProviderFields = Fields<typeof providerKeys>;

/** A provider as PromptKit declares it, without defaults or resolved values. */
export interface ProviderConfig
  extends Omit<
    ProviderFields,
    'role' | 'pricing' | 'rateLimit' | 'streamRetry' | 'streamIdleTimeout' | 'streamMaxConcurrent'
  > {
  /** Absent: the model answers. */
  readonly role?: 'embedding';
  /** US dollars per 1,000 tokens. */
  readonly pricing?: { readonly input: number; readonly output: number };
  readonly rateLimit?: RateLimit;
  readonly streams?: StreamLimitsConfig;
  /** Why this provider must not be used: the file requests an unsupported feature. */
  readonly refused?: string;
  readonly position: SourceLocation;
}

/** PromptKit's settings for a provider's streams. */
export interface StreamLimitsConfig {
  /** The longest pause of a started stream. Absent: the request timeout, or `idle_ms` at the gateway. */
  readonly idleMs?: number;
  /** Absent: no limit. */
  readonly maxConcurrent?: number;
  /** Retries before the first part of an answer; absent: as for other calls. */
  readonly retry?: {
    readonly retries: number;
    readonly initialDelayMs: number;
    readonly maxDelayMs: number;
    /** The retry budget of all streams together; absent: no limit. */
    readonly budget?: { readonly ratePerSecond: number; readonly burst: number };
  };
}

export interface RateLimit {
  readonly requestsPerMinute?: number;
  /** Requests that may start at once after a pause; absent: ten seconds' worth. */
  readonly burst?: number;
  /** Requests and answers together. */
  readonly tokensPerMinute?: number;
}

/** Of providers with the same id, only the first. */
export function readProviders(document: YamlDocument): ProviderConfig[] {
  const all = itemsAt(document, ['spec', 'providers']).map((path) => readProvider(document, path));
  return withChains(all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index));
}

function readProvider(document: YamlDocument, path: Path): ProviderConfig {
  const { role, pricing, rateLimit, streamRetry, streamIdleTimeout, streamMaxConcurrent, ...provider } =
    readFields(document, path, providerKeys);
  const { inputCostPer1k: input, outputCostPer1k: output } = pricing ?? {};
  const streams = omitUndefined({
    idleMs: streamIdleTimeout,
    maxConcurrent: streamMaxConcurrent,
    retry: streamRetry && toStreamRetry(streamRetry),
  });
  return {
    ...provider,
    ...omitUndefined({
      role: role === 'embedding' ? ('embedding' as const) : undefined,
      pricing:
        input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 },
      rateLimit: rateLimit && toRateLimit(rateLimit),
      streams: Object.keys(streams).length === 0 ? undefined : streams,
      refused: whyProviderRefused(document, path),
    }),
    position: document.positionOf(path),
  };
}

function readId(document: YamlDocument, path: Path): string | undefined {
  return nonEmptyTextAt(document, path) ?? nonEmptyTextAt(document, [...path.slice(0, -1), 'type']);
}

function toRateLimit({
  rps,
  burst,
  requestsPerMinute: perMinute,
  tokensPerMinute,
}: NonNullable<ProviderFields['rateLimit']>): RateLimit | undefined {
  const perSecond = rps || undefined;
  const isByRate = perSecond !== undefined && perSecond * 60 < (perMinute ?? Number.POSITIVE_INFINITY);
  const limit = omitUndefined({
    requestsPerMinute: isByRate ? perSecond * 60 : perMinute,
    burst: isByRate ? burst || 1 : undefined,
    tokensPerMinute,
  });
  return Object.keys(limit).length === 0 ? undefined : limit;
}

/** As in PromptKit, streams are retried only if enabled. */
function toStreamRetry({
  enabled,
  maxAttempts,
  initialDelay,
  maxDelay,
  budget: { ratePerSec: ratePerSecond, burst },
}: NonNullable<ProviderFields['streamRetry']>): NonNullable<StreamLimitsConfig['retry']> {
  return {
    retries: enabled ? Math.max(1, maxAttempts || 2) - 1 : 0,
    initialDelayMs: Math.min(initialDelay, maxDelay),
    maxDelayMs: maxDelay,
    ...(ratePerSecond > 0 && burst > 0 && { budget: { ratePerSecond, burst } }),
  };
}

function readTimeout(document: YamlDocument, path: Path): number | undefined {
  const milliseconds = duration[read](document, path);
  return milliseconds === undefined ? undefined : Math.min(milliseconds, longestMs);
}

/** An unsupported platform or role; undefined if the provider may be used. */
export function whyProviderRefused(document: YamlDocument, path: Path): string | undefined {
  const platform = valueAt(document, [...path, 'platform']);
  if (isObject(platform)) {
    const type = nonEmptyTextAt(document, [...path, 'platform', 'type']);
    return `its platform${type === undefined ? '' : ` ${type}`} is not supported`;
  }
  const role = providerRoleAt(document, path);
  const known = providerRoles.find((each) => each === role);
  if (known === undefined)
    return `its role is ${role}, and only ${providerRoles.join(' and ')} are supported`;
  return whyNotRole(textAt(document, [...path, 'type']) ?? '', known);
}

export function providerRoleAt(document: YamlDocument, path: Path): string {
  return nonEmptyTextAt(document, [...path, 'role']) ?? providerKeys.role[usual];
}

/** Expands each fallback list to the whole chain, including the fallbacks of fallbacks. */
function withChains(providers: readonly ProviderConfig[]): ProviderConfig[] {
  const own = new Map(providers.map(({ id, fallback = [] }) => [id, fallback]));
  return providers.map((provider) => {
    if (provider.fallback === undefined) return provider;
    const chain = new Set<string>();
    const follow = (id: string): void => {
      for (const next of own.get(id) ?? []) {
        if (next === provider.id || chain.has(next)) continue;
        chain.add(next);
        follow(next);
      }
    };
    follow(provider.id);
    return { ...provider, fallback: [...chain] };
  });
}
