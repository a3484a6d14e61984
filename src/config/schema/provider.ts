import { durationPattern } from '../duration.ts';

const scalarMap = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
} as const;

/** Keys of a provider that PromptKit reads and Signalbox does not. */
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

export const providerSchema = {
  type: 'object',
  description: 'A model behind an API.',
  additionalProperties: false,
  required: ['type', 'model'],
  properties: {
    id: {
      type: 'string',
      minLength: 1,
      description: 'The name by which the provider is called. Default: its type.',
    },
    type: { type: 'string', minLength: 1, description: 'Kind of API, such as openai, anthropic or mock.' },
    model: { type: 'string', minLength: 1, description: 'The model’s name at that API.' },
    base_url: { type: 'string', description: 'Address of the API, where it is not the usual one.' },
    headers: { ...scalarMap, description: 'HTTP headers that go with every request.' },
    credential: {
      type: 'object',
      description: 'Where the API key comes from.',
      additionalProperties: false,
      properties: {
        api_key: { type: 'string', description: 'The key itself; better kept out of the file.' },
        credential_file: { type: 'string', description: 'A file that holds the key.' },
        credential_env: { type: 'string', description: 'The environment variable that holds the key.' },
      },
    },
    defaults: {
      type: 'object',
      description: 'Sampling settings where a call has none of its own.',
      additionalProperties: false,
      properties: {
        temperature: { type: 'number', description: 'Randomness of the answer.' },
        top_p: { type: 'number', description: 'Share of the likeliest words to choose from.' },
        max_tokens: { type: 'integer', minimum: 1, description: 'Longest answer, in tokens.' },
        prompt_caching: { type: 'boolean', description: 'PromptKit’s switch for prompt caching. Not used.' },
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
      type: 'string',
      pattern: durationPattern,
      description: 'Longest duration of a request, such as 90s or 1m30s.',
    },
    rate_limit: {
      type: 'object',
      description: 'How much the API is asked for, by all processes that share a state store in Postgres.',
      additionalProperties: false,
      properties: {
        rps: {
          type: 'number',
          minimum: 0,
          description: 'Calls a second, as PromptKit has it; 0 is no limit.',
        },
        burst: {
          type: 'integer',
          minimum: 0,
          description: 'Calls that may begin at once after a pause, beside rps. Default: 1.',
        },
        requests_per_minute: { type: 'integer', minimum: 1, description: 'Calls, retries among them.' },
        tokens_per_minute: {
          type: 'integer',
          minimum: 1,
          description:
            'Tokens of requests and answers together: estimated before a call, and settled by its usage.',
        },
      },
    },
    stream_idle_timeout: {
      type: 'string',
      pattern: durationPattern,
      description:
        'Longest silence of a stream that has begun, such as 30s. Default: request_timeout; at the gateway limits.idle_ms.',
    },
    stream_max_concurrent: {
      type: 'integer',
      description:
        'Streams of one process that are open at once; others wait for a place within request_timeout. 0 or less is no limit, as in PromptKit.',
    },
    stream_retry: {
      type: 'object',
      description:
        'Retries of streams before the first part of an answer, in place of additional_config.max_retries. The gateway makes none: its clients do.',
      additionalProperties: false,
      properties: {
        enabled: { type: 'boolean', description: 'Whether streams are retried. Default: false.' },
        max_attempts: { type: 'integer', description: 'Attempts with the first one. Default: 2.' },
        initial_delay: {
          type: 'string',
          pattern: durationPattern,
          description: 'Wait before the first retry, doubled before each further one. Default: 250ms.',
        },
        max_delay: { type: 'string', pattern: durationPattern, description: 'Longest wait. Default: 2s.' },
        retry_window: {
          type: 'string',
          enum: ['pre_first_chunk'],
          description: 'Until when a stream is retried: nothing of an answer is ever repeated.',
        },
        budget: {
          type: 'object',
          description: 'How many retries all streams of a process may make together.',
          additionalProperties: false,
          properties: {
            rate_per_sec: { type: 'number', description: 'Retries a second; 0 is no limit.' },
            burst: { type: 'integer', description: 'Retries at once after a pause; 0 is no limit.' },
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
        'Providers that are asked one after another where this one is not there, not in time or overloaded; those that follow them come after them.',
    },
    structured_output: {
      type: 'string',
      enum: ['schema', 'json', 'none'],
      description:
        'What the API does with the JSON Schema of a chat’s output. schema (default): it keeps to it. json: it knows only that JSON is wanted. none: it is told in words.',
    },
    stream_usage: {
      type: 'boolean',
      description:
        'Whether the gateway asks for `stream_options.include_usage` where a key has a budget and its client did not ask. Default: true. false: for an API that refuses it.',
    },
    additional_config: {
      type: 'object',
      description: 'Settings of one kind of provider, such as mock’s responses.',
    },
    role: {
      type: 'string',
      description:
        'What the model does: llm (default), it answers; embedding, it turns texts into vectors. Any other of PromptKit’s words is refused when it is used.',
    },
    platform: {
      type: 'object',
      description: 'A hosting platform. Not supported: a provider that names one is refused when it is used.',
    },
    ...Object.fromEntries(
      unusedProviderKeys.map((key) => [key, { description: `PromptKit’s ${key}. Not used.` }]),
    ),
  },
};
