import { durationPattern } from '../duration.ts';

/** Headers of a client that may go upstream in the place of the provider's own credential. */
export const passableHeaders = ['authorization', 'x-api-key'] as const;

/** `HOST:PORT`; an IPv6 address stands in brackets. */
export const listenPattern = '^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):\\d{1,5}$';

const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const duration = { type: 'string', pattern: durationPattern } as const;
const count = { type: 'integer', minimum: 1 } as const;

const limitsSchema = {
  type: ['object', 'null'],
  description: 'What a client may use up.',
  additionalProperties: false,
  properties: {
    body_bytes: { ...count, description: 'Longest body of a request. Default: 33554432 (32 MiB).' },
    answer_bytes: { ...count, description: 'Longest unstreamed answer of an upstream. Default: 67108864.' },
    depth: { ...count, maximum: 1000, description: 'Deepest nesting of a body. Default: 128.' },
    headers_ms: { ...count, description: 'Time for the headers of a request. Default: 15000.' },
    request_ms: { ...count, description: 'Time for a whole request. Default: 60000.' },
    upstream_ms: { ...count, description: 'Time until an upstream begins to answer. Default: 300000.' },
    answer_ms: {
      ...count,
      description:
        'Time for the rest of an answer once it has begun, streamed or not. Default: 3600000 (1 h).',
    },
    idle_ms: {
      ...count,
      description: 'Longest silence of an upstream, and of a client that does not read. Default: 120000.',
    },
    connections: { ...count, description: 'Connections at once. Default: 8192.' },
    held_bytes: { ...count, description: 'Held bytes of one stream. Default: 16777216.' },
    total_held_bytes: { ...count, description: 'Held bytes of all calls. Default: 536870912.' },
  },
} as const;

const auditSchema = {
  type: ['object', 'null'],
  description:
    'A row for each call in audit.db beside the state store, or in its database; nothing is kept without this section.',
  additionalProperties: false,
  properties: {
    required: {
      type: 'boolean',
      description: 'Refuse calls while rows cannot be kept. Default: true.',
    },
    content: { type: 'boolean', description: 'Keep the bodies too. Default: false.' },
    key_env: {
      type: 'string',
      minLength: 1,
      description:
        'The environment variable that holds the private Ed25519 key (PEM) which signs. Default: audit.key beside audit.db, made when it is missing, or one in the database.',
    },
    keep: { ...duration, description: 'How long rows are kept. Default: 30d.' },
    head: {
      type: ['object', 'null'],
      description: 'Where the signed head of the chain is written.',
      additionalProperties: false,
      properties: {
        file: { type: 'string', minLength: 1, description: 'A file, relative to this file’s folder.' },
        stdout: { type: 'boolean', description: 'Write it to stdout. Default: false.' },
        every: { ...duration, description: 'How often. Default: 60s.' },
      },
    },
  },
} as const;

const toolsSchema = {
  type: ['object', 'null'],
  description: 'Tools that clients run themselves.',
  additionalProperties: false,
  properties: {
    hooks: {
      type: 'boolean',
      description:
        'Whether tool hooks judge the calls of answers and the results of requests. Default: false.',
    },
    pending: {
      type: 'string',
      enum: ['hold', 'refuse'],
      description:
        'When a person has to decide: hold the answer, or refuse it and name the pending call. Default: refuse.',
    },
    hold_ms: { ...count, description: 'How long an answer is held; then it is refused. Default: 120000.' },
  },
} as const;

/** What `signalbox serve` offers, and to whom. */
export const gatewaySchema = {
  type: ['object', 'null'],
  description:
    'What `signalbox serve` offers. Without it every provider is served on loopback, without keys.',
  additionalProperties: false,
  properties: {
    listen: {
      type: 'string',
      pattern: listenPattern,
      description: 'HOST:PORT. Default: 127.0.0.1:8787. Any other than a loopback address needs keys.',
    },
    models: {
      type: ['object', 'null'],
      description:
        'Models by the names that clients ask for. Default: every provider by its own model’s name.',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['provider'],
        properties: {
          provider: { type: 'string', minLength: 1, description: 'The id of a provider.' },
          model: {
            type: 'string',
            minLength: 1,
            description: 'The model’s name there. Default: the provider’s.',
          },
        },
      },
    },
    hooks: {
      type: ['object', 'null'],
      description: 'Sets of hooks, by the names that keys are given. A key without one passes every hook.',
      additionalProperties: names,
    },
    on_deny: {
      type: 'string',
      enum: ['error', 'answer'],
      description: 'A denial is an error (default), or an answer: the API’s own refusal.',
    },
    stream: {
      type: 'string',
      enum: ['hold', 'windowed'],
      description:
        'hold (default): an answer goes out when it has passed. windowed: behind a window of text.',
    },
    window: { ...count, description: 'Characters that windowed looks at together. Default: 200.' },
    judge: {
      type: ['object', 'null'],
      description: 'By hook: all messages of a request (default), or those that were not allowed before.',
      additionalProperties: { type: 'string', enum: ['all', 'new'] },
    },
    opaque: {
      ...names,
      description:
        'Kinds of content, and types of stream events, that pass though no hook can read them, such as image, audio, file or codex.rate_limits.',
    },
    references: {
      ...names,
      description: 'Members that may refer to what an upstream keeps, such as previous_response_id.',
    },
    embeddings: {
      type: ['object', 'null'],
      description: 'Texts that are embedded; lists of token numbers are denied.',
      additionalProperties: false,
      properties: {
        redact: {
          type: 'boolean',
          description: 'Whether hooks may change texts that are embedded. Default: false.',
        },
      },
    },
    tools: toolsSchema,
    pass_through: {
      type: 'array',
      items: { type: 'string', enum: passableHeaders },
      description:
        'The client’s own credentials go upstream in these headers, in the place of the provider’s.',
    },
    forward_headers: {
      type: 'array',
      // Source: RFC 9110, section 5.1, a token.
      items: { type: 'string', pattern: "^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,128}$" },
      description:
        'Further headers of clients that go upstream; no hook reads them. None that holds a credential or belongs to a connection.',
    },
    limits: limitsSchema,
    keys: {
      type: ['object', 'null'],
      description: 'Keys of the gateway itself, made by `signalbox keys create`.',
      additionalProperties: false,
      properties: {
        required: {
          type: 'boolean',
          description: 'Whether calls need a key of `signalbox keys`. Default: other than on loopback.',
        },
      },
    },
    audit: auditSchema,
    drain_ms: { ...count, description: 'How long calls that run may take after SIGTERM. Default: 30000.' },
  },
} as const;
