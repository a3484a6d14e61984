import { resolve } from 'node:path';
import { isCredentialName } from '../base/text/credential-name.ts';
import { suggest } from '../base/text/suggest.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { as, type Fields, read, readFields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../base/yaml/read.ts';
import { duration } from './duration.ts';
import { checkListen, type ListenAddress, listenPattern, parseListen } from './listen.ts';

/** Client headers that may replace the provider's own credential upstream. */
const passableHeaders = ['authorization', 'x-api-key'] as const;

const names = { type: 'array', items: { type: 'string', minLength: 1 }, [usual]: [] } as const;
const count = { type: 'integer', minimum: 1 } as const;

const MiB = 1024 * 1024;

const limitsSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'Limits on what one client can use.',
  additionalProperties: false,
  properties: {
    body_bytes: usually(
      32 * MiB,
      { ...count, description: 'Longest body of a request.' },
      `${32 * MiB} (32 MiB)`,
    ),
    answer_bytes: usually(64 * MiB, { ...count, description: 'Longest unstreamed answer of an upstream.' }),
    depth: usually(128, { ...count, maximum: 1000, description: 'Deepest nesting of a body.' }),
    headers_ms: usually(15_000, { ...count, description: 'Time for the headers of a request.' }),
    request_ms: usually(60_000, { ...count, description: 'Time for a whole request.' }),
    upstream_ms: usually(300_000, { ...count, description: 'Time until an upstream begins to answer.' }),
    answer_ms: usually(
      3_600_000,
      { ...count, description: 'Time for the rest of an answer once it has begun, streamed or not.' },
      '3600000 (1 h)',
    ),
    idle_ms: usually(120_000, {
      ...count,
      description: 'Longest silence of an upstream, and of a client that does not read.',
    }),
    connections: usually(8192, { ...count, description: 'Connections at once.' }),
    held_bytes: usually(16 * MiB, {
      ...count,
      description: 'Bytes of one stream that the gateway may hold back.',
    }),
    total_held_bytes: usually(512 * MiB, {
      ...count,
      description: 'Bytes of all calls that the gateway may hold back.',
    }),
  },
} as const;

const auditSchema = {
  type: ['object', 'null'],
  description:
    'Records a row for each call, in audit.db beside the state store or in its database. Without this section, nothing is recorded.',
  additionalProperties: false,
  properties: {
    required: usually(true, { type: 'boolean', description: 'Refuse calls while rows cannot be written.' }),
    content: usually(false, { type: 'boolean', description: 'Record the bodies too.' }),
    key_env: {
      type: 'string',
      minLength: 1,
      description:
        'The environment variable that holds the private Ed25519 key (PEM) that signs. Default: audit.key beside audit.db, created if it is missing, or a key in the database.',
    },
    keep: usually(
      30 * 86_400_000,
      { ...duration, [as]: 'keepMs', description: 'How long rows are kept.' },
      '30d',
    ),
    head: {
      type: ['object', 'null'],
      description: 'Where the signed head of the chain is written.',
      additionalProperties: false,
      properties: {
        file: { type: 'string', minLength: 1, description: 'A file, relative to this file’s folder.' },
        stdout: usually(false, { type: 'boolean', description: 'Write it to stdout.' }),
        every: usually(60_000, { ...duration, [as]: 'everyMs', description: 'How often.' }, '60s'),
      },
    },
  },
} as const;

const toolsSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'Tools that clients run themselves.',
  additionalProperties: false,
  properties: {
    hooks: usually(false, {
      type: 'boolean',
      description: 'Whether tool hooks judge the calls of answers and the results of requests.',
    }),
    pending: {
      type: 'string',
      enum: ['hold', 'refuse'],
      [usual]: 'refuse',
      description:
        'What happens when a person must decide: the answer is held, or refused with the id of the pending call. Default: refuse.',
    },
    hold_ms: usually(120_000, { ...count, description: 'How long an answer is held before it is refused.' }),
  },
} as const;

const usualAddress: ListenAddress = { host: '127.0.0.1', port: 8787 };

export const gatewaySchema = {
  type: ['object', 'null'],
  description:
    'What `signalbox serve` offers. Without this section, every provider is served on loopback, without keys.',
  additionalProperties: false,
  properties: {
    listen: {
      type: 'string',
      pattern: listenPattern,
      [read]: (document: YamlDocument, path: Path) => parseListen(nonEmptyTextAt(document, path) ?? ''),
      [usual]: usualAddress,
      description: 'HOST:PORT. Default: 127.0.0.1:8787. Any other than a loopback address needs keys.',
    },
    models: {
      type: ['object', 'null'],
      description: 'Models by the names that clients use. Default: every provider, by the name of its model.',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['provider'],
        properties: {
          provider: { type: 'string', minLength: 1, [usual]: '', description: 'The id of a provider.' },
          model: {
            type: 'string',
            minLength: 1,
            description: 'The name of the model at the provider. Default: that of the provider’s entry.',
          },
        },
      },
    },
    hooks: {
      type: ['object', 'null'],
      description:
        'Named sets of hooks, to which keys can refer. The calls of a key without a set run through every hook.',
      additionalProperties: names,
      [usual]: new Map(),
    },
    on_deny: {
      type: 'string',
      enum: ['error', 'answer'],
      [usual]: 'error',
      description:
        'What a client receives for a denial: an error (default), or an answer with the API’s own refusal.',
    },
    stream: {
      type: 'string',
      enum: ['hold', 'windowed'],
      [usual]: 'hold',
      description:
        'hold (default): an answer is sent when it has passed its hooks. windowed: its text is sent as it streams, `window` characters behind.',
    },
    window: usually(200, { ...count, description: 'Characters that the hooks see together under windowed.' }),
    judge: {
      type: ['object', 'null'],
      description:
        'For each hook: it receives all messages of a request (default), or only those that it has not allowed before.',
      additionalProperties: { type: 'string', enum: ['all', 'new'], [usual]: 'all' },
      [usual]: new Map(),
    },
    opaque: {
      ...names,
      description:
        'Kinds of content, and types of stream events, that pass although no hook can read them, such as image, audio, file or codex.rate_limits.',
    },
    references: {
      ...names,
      description: 'Members that may refer to content stored at an upstream, such as previous_response_id.',
    },
    embeddings: {
      type: ['object', 'null'],
      description: 'Texts to embed; lists of token numbers are denied.',
      additionalProperties: false,
      [usual]: {},
      properties: {
        redact: usually(false, {
          type: 'boolean',
          description: 'Whether hooks may change texts to embed.',
        }),
      },
    },
    tools: toolsSchema,
    pass_through: {
      type: 'array',
      items: { type: 'string', enum: passableHeaders },
      [read]: readPassThrough,
      [usual]: [],
      description: 'Headers in which the client’s own credentials go upstream, instead of the provider’s.',
    },
    forward_headers: {
      type: 'array',
      // Source: RFC 9110, section 5.1, a token.
      items: {
        type: 'string',
        pattern: "^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,128}$",
        [read]: (document: YamlDocument, path: Path) => nonEmptyTextAt(document, path)?.toLowerCase(),
      },
      [usual]: [],
      description:
        'Further headers of clients that go upstream; no hook reads them. Headers that hold a credential or belong to a connection are not allowed.',
    },
    limits: limitsSchema,
    keys: {
      type: ['object', 'null'],
      description: 'Keys of the gateway itself, made by `signalbox keys create`.',
      additionalProperties: false,
      [usual]: {},
      properties: {
        required: {
          type: 'boolean',
          description:
            'Whether calls need a key of `signalbox keys`. Default: true unless the address is a loopback one.',
        },
      },
    },
    audit: auditSchema,
    drain_ms: usually(30_000, { ...count, description: 'How long running calls may take after SIGTERM.' }),
  },
} as const;

type GatewayFields = Fields<typeof gatewaySchema.properties>;

export interface GatewayModelConfig {
  readonly name: string;
  readonly provider: string;
  readonly model: string;
}

export type GatewayLimits = GatewayFields['limits'];

export interface GatewayConfig extends Omit<GatewayFields, 'models'> {
  /** Absent: every provider under its own model's name. */
  readonly models?: readonly GatewayModelConfig[];
}

const section = ['spec', 'gateway'] as const;

/** `folder` is absolute; the document must be checked. */
export function readGateway(
  document: YamlDocument,
  folder: string,
  providers: readonly { readonly id: string; readonly model: string }[],
): GatewayConfig {
  const { models, audit, ...gateway } = readFields(document, section, gatewaySchema.properties);
  const head = audit?.head;
  const offered =
    models &&
    [...models].map(([name, { provider, model }]): GatewayModelConfig => {
      const own = providers.find(({ id }) => id === provider)?.model ?? name;
      return { name, provider, model: model ?? own };
    });
  return {
    ...gateway,
    ...(offered && { models: offered }),
    ...(audit && {
      audit: {
        ...audit,
        ...(head && { head: { ...head, ...(head.file && { file: resolve(folder, head.file) }) } }),
      },
    }),
  };
}

function readPassThrough(document: YamlDocument, path: Path) {
  const named = itemsAt(document, path).map((item) => textAt(document, item));
  return passableHeaders.filter((name) => named.includes(name));
}

/** Reports what the schema cannot: undeclared providers and hooks. */
export function checkGateway(document: YamlDocument): Finding[] {
  return [
    ...checkListen(document, [...section, 'listen']),
    ...checkModels(document),
    ...checkHooks(document),
    ...checkWindow(document),
    ...checkForwarded(document),
  ];
}

function checkModels(document: YamlDocument): Finding[] {
  const known = itemsAt(document, ['spec', 'providers']).flatMap(
    (item) => nonEmptyTextAt(document, [...item, 'id']) ?? nonEmptyTextAt(document, [...item, 'type']) ?? [],
  );
  return entriesAt(document, [...section, 'models']).flatMap(({ path }): Finding[] => {
    const provider = nonEmptyTextAt(document, [...path, 'provider']);
    if (provider === undefined || known.includes(provider)) return [];
    const message = 'references a provider not declared under spec.providers';
    return [{ path: [...path, 'provider'], message, ...suggest(provider, known) }];
  });
}

function checkHooks(document: YamlDocument): Finding[] {
  // Imported hooks are known when the runtime opens, which checks their names.
  if (itemsAt(document, ['spec', 'imports']).length > 0) return [];
  const known = entriesAt(document, ['spec', 'hooks']).map(({ name }) => name);
  const listed = entriesAt(document, [...section, 'hooks']).flatMap(({ path }) => itemsAt(document, path));
  const judged = entriesAt(document, [...section, 'judge']);
  return [
    ...listed.flatMap((path) => checkHook(path, textAt(document, path), known)),
    ...judged.flatMap(({ name, path }) =>
      checkHook(path, name, known).map((finding) => ({ ...finding, atKey: true })),
    ),
  ];
}

function checkHook(path: Path, name: string | undefined, known: readonly string[]): Finding[] {
  if (name === undefined || known.includes(name)) return [];
  return [{ path, message: 'references a hook not declared under spec.hooks', ...suggest(name, known) }];
}

function checkWindow(document: YamlDocument): Finding[] {
  const path = [...section, 'window'];
  if (typeof valueAt(document, path) !== 'number') return [];
  if (textAt(document, [...section, 'stream']) === 'windowed') return [];
  const message = 'is not used: it belongs to stream: windowed';
  return [{ severity: 'warning', path, message, atKey: true }];
}

/** Only `pass_through` forwards credentials. The gateway sets headers of the connection and body itself. */
function checkForwarded(document: YamlDocument): Finding[] {
  return itemsAt(document, [...section, 'forward_headers']).flatMap((path): Finding[] => {
    const name = textAt(document, path)?.toLowerCase();
    if (name === undefined) return [];
    if (isCredentialName(name) || credentialHeaders.test(name)) {
      const message = `${name} holds a credential, which cannot be forwarded by this key`;
      return [{ path, message, hint: 'Use spec.gateway.pass_through for credentials that clients send.' }];
    }
    if (!ownHeaders.test(name)) return [];
    return [{ path, message: `${name} belongs to one connection or body, and only the gateway sets it` }];
  });
}

/** In addition to the usual names of credentials. */
const credentialHeaders =
  /^(?:x-signalbox-.*|.*-?api[-_]?key|.*auth(?:entication|orization)?|.*-(?:jwt|session|signature|assertion))$/;

/** Source: RFC 9110, section 7.6.1, and the headers that the gateway sets. */
const ownHeaders =
  /^(?:connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade|host|expect|via|forwarded|x-forwarded-.*|content-.*|accept-encoding|origin|sec-.*|http2-settings)$/;
