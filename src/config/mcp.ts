import { isLoopbackName } from '../base/text/url.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { nonEmptyTextAt, valueAt } from '../base/yaml/read.ts';
import { checkListen, listenPattern } from './listen.ts';

const url = { type: 'string', pattern: '^https?://' } as const;

export const mcpSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'What `signalbox mcp` offers to agents.',
  additionalProperties: false,
  properties: {
    http: {
      type: 'string',
      pattern: listenPattern,
      description: 'HOST:PORT to serve HTTP at. Default: stdin and stdout.',
    },
    tools: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      [usual]: ['*'],
      description:
        'Names of the tools to offer; `*` stands for any characters and `?` for one. Default: every tool with `exec`.',
    },
    decide: {
      type: 'string',
      enum: ['operators', 'caller'],
      [usual]: 'operators',
      description:
        'Who may decide about a call that waits for a person. operators: those who may decide elsewhere. caller: also the person in front of the agent, whom the agent asks. Default: operators.',
    },
    public_url: {
      ...url,
      description:
        'The URL that clients use, such as https://tools.example.com/mcp. Needed for any other than a loopback address, and behind a proxy.',
    },
    auth: {
      type: ['object', 'null'],
      [usual]: {},
      description: 'Credentials of clients over HTTP, beside the keys of `signalbox keys`.',
      additionalProperties: false,
      properties: {
        required: {
          type: 'boolean',
          description:
            'Whether requests need a credential. Default: true if `public_url` or `issuer` is set, or the address is not a loopback one.',
        },
        issuer: {
          ...url,
          description: 'The authorization server whose access tokens (JWT) are accepted: their `iss`.',
        },
        jwks_url: { ...url, description: 'Where the issuer publishes its keys. Redirects are not followed.' },
        audience: {
          type: 'string',
          minLength: 1,
          description:
            'The `aud` that tokens must have. Default: `public_url`, or the URL at the loopback address.',
        },
      },
    },
    max_message_bytes: usually(
      8 * 1024 * 1024,
      {
        type: 'integer',
        minimum: 1024,
        maximum: 256 * 1024 * 1024,
        description: 'The longest message, in either direction.',
      },
      '8388608 (8 MiB)',
    ),
  },
} as const;

export type McpConfig = Fields<typeof mcpSchema.properties>;

/** Of the page that `signalbox console` and `signalbox serve` show. */
export const consoleSchema = {
  type: ['object', 'null'],
  [usual]: {},
  description: 'The console: a web page to see runs and decide calls.',
  additionalProperties: false,
  properties: {
    listen: {
      type: 'string',
      pattern: listenPattern,
      description:
        'HOST:PORT of `signalbox console`. Default: 127.0.0.1:8789. Any other than a loopback address needs `public_url` and keys.',
    },
    public_url: {
      ...url,
      description:
        'The URL of the page for people, which ends with /console, such as https://ops.example.com/console. Messages of `spec.notify` link to it.',
    },
  },
} as const;

export type ConsoleConfig = Fields<typeof consoleSchema.properties>;

/** The address of the console's page, for links; undefined if the config does not say where it is. */
export function consoleUrlOf({ listen, publicUrl }: ConsoleConfig): string | undefined {
  if (publicUrl !== undefined || listen === undefined) return publicUrl?.replace(/\/$/, '');
  return listen.endsWith(':0') ? undefined : `http://${listen}/console`;
}

/** The page of a call or run, without a credential. `url`: the address of the console's page, if it is known. */
export function consoleLinkOf(
  url: string | undefined,
  section: 'inbox' | 'runs',
  id: string,
): string | undefined {
  return url && `${url}/${section}/${encodeURIComponent(id)}`;
}

/** Reports URLs over which credentials would travel in the clear, and half an issuer. */
export function checkMcp(document: YamlDocument): Finding[] {
  const auth = ['spec', 'mcp', 'auth'];
  const has = (key: string) => valueAt(document, [...auth, key]) !== undefined;
  const lone = (['issuer', 'jwks_url'] as const).find(
    (key) => has(key) && !(has('issuer') && has('jwks_url')),
  );
  const idle = has('audience') && !has('issuer');
  return [
    ...checkUrl(document, ['spec', 'mcp', 'public_url']),
    ...checkConsoleUrl(document, ['spec', 'console', 'public_url']),
    ...checkListen(document, ['spec', 'mcp', 'http']),
    ...checkListen(document, ['spec', 'console', 'listen']),
    ...checkUrl(document, [...auth, 'issuer']),
    ...checkUrl(document, [...auth, 'jwks_url']),
    ...(lone === undefined
      ? []
      : [error([...auth, lone], '`issuer` and `jwks_url` belong together', 'Set both, or neither.')]),
    ...(idle
      ? [
          error(
            [...auth, 'audience'],
            '`audience` needs an `issuer`',
            'Set `issuer` and `jwks_url`, or remove it.',
          ),
        ]
      : []),
  ];
}

function checkUrl(document: YamlDocument, path: Path): Finding[] {
  const text = nonEmptyTextAt(document, path);
  if (text === undefined) return [];
  const parsed = URL.parse(text);
  if (parsed === null) return [error(path, 'it is not a URL', 'Write it like https://host/path.')];
  if (/[?#]/.test(text) && path.at(-1) !== 'jwks_url')
    return [error(path, 'it has a query or a fragment', 'Remove it.')];
  if (parsed.username !== '' || parsed.password !== '')
    return [error(path, 'it contains a user or a password', 'Remove them.')];
  if (parsed.protocol === 'https:' || isLoopbackName(parsed.host)) return [];
  return [error(path, 'http is allowed to this machine only', 'Use https: credentials depend on it.')];
}

/** The page finds its own address and that of the API by its one `/console`. */
function checkConsoleUrl(document: YamlDocument, path: Path): Finding[] {
  const findings = checkUrl(document, path);
  const { pathname = '/console' } = URL.parse(nonEmptyTextAt(document, path) ?? '') ?? {};
  const [, ...rest] = pathname.split(/\/console(?=\/|$)/);
  if (findings.length > 0 || (rest.length === 1 && /^\/?$/.test(rest[0] ?? ''))) return findings;
  return [
    error(path, 'its path does not end with its only `/console`', 'Write it like https://host/path/console.'),
  ];
}

function error(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
