import { isObject } from '../base/json/json.ts';
import { isLoopbackName } from '../base/text/url.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual } from '../base/yaml/fields.ts';
import { type Finding, isError } from '../base/yaml/finding.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, textsByNameAt, valueAt } from '../base/yaml/read.ts';
import { findNul } from './build/refused.ts';
import { type ExecConfig, execProperties } from './exec.ts';

/** Separates the name of a server from that of its tool. */
const toolSeparator = '__';

export function toolOfServer(server: string, tool: string): string {
  return `${server}${toolSeparator}${tool}`;
}

/** The server of a tool, and the name that the tool has there; undefined if it is the tool of no server. */
export function findServer<Server>(
  name: string,
  servers: ReadonlyMap<string, Server>,
): { readonly server: Server; readonly tool: string } | undefined {
  const end = name.indexOf(toolSeparator);
  const server = end === -1 ? undefined : servers.get(name.slice(0, end));
  const tool = name.slice(end + toolSeparator.length);
  return server === undefined || tool === '' ? undefined : { server, tool };
}

/** A name that ends in `_` would make `name__tool` ambiguous. */
const namePattern = '^(?!.*__)[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9-])?$';

const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const scalarMap = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  [read]: textsByNameAt,
  [usual]: {},
} as const;

const channels = [
  ...(['resources', 'prompts', 'completions', 'logging', 'elicitation', 'subscriptions'] as const),
  ...(['sampling', 'roots'] as const),
];

const { command, args, sandbox, limits, nice, max_output_bytes, grace_ms } = execProperties;

const serverKeys = {
  name: {
    type: 'string',
    pattern: namePattern,
    [usual]: '',
    description: 'The name of the server: letters, digits, - and single _. Its tools are called NAME__TOOL.',
  },
  command: { ...command, [read]: null },
  args: { ...args, [read]: null },
  env: {
    ...scalarMap,
    [read]: null,
    description:
      'Variables of the program, such as {TOKEN: "${env:TOKEN}"}. Besides these, it sees only PATH, HOME, LANG, LC_*, TZ, TMPDIR and USER.',
  },
  working_dir: {
    type: 'string',
    minLength: 1,
    [read]: null,
    description: 'Folder in which the program starts, relative to this file’s. Default: this file’s folder.',
  },
  timeout_ms: {
    ...execProperties.timeout_ms,
    description:
      'Milliseconds until a request to the server times out; also how long it may take to connect. Default: 30000.',
  },
  max_output_bytes: {
    ...max_output_bytes,
    description:
      'Longest message of the server in bytes. A longer one ends the connection. Default: 10485760.',
  },
  sandbox: { ...sandbox, [read]: null },
  limits: { ...limits, [read]: null },
  nice: { ...nice, [read]: null },
  grace_ms: { ...grace_ms, [read]: null },
  url: {
    type: 'string',
    minLength: 1,
    description: 'Instead of `command`: the URL of a server that speaks streamable HTTP.',
  },
  transport: {
    type: 'string',
    enum: ['stdio', 'streamable_http', 'sse'],
    description:
      'stdio, or streamable_http for a `url`. sse, the transport that MCP dropped in 2025, is refused. Default: what the entry has, `command` or `url`.',
  },
  headers: {
    ...scalarMap,
    description: 'HTTP headers of every request to `url`, such as {X-Tenant: "${env:TENANT}"}.',
  },
  tool_filter: {
    type: 'object',
    [usual]: {},
    description: 'Which tools of the server exist here.',
    additionalProperties: false,
    properties: {
      allowlist: { ...names, description: 'The only tools that exist, by their own names. Default: all.' },
      blocklist: { ...names, description: 'Tools that do not exist, unless `allowlist` names them.' },
    },
  },
  auth: {
    type: 'object',
    description: 'How Signalbox authenticates at `url`.',
    additionalProperties: false,
    required: ['type'],
    properties: {
      type: {
        type: 'string',
        enum: ['login', 'client_credentials', 'private_key_jwt', 'cross_app_access'],
        [usual]: 'login',
        description:
          'login: as a person, with `signalbox mcp login NAME`. client_credentials and private_key_jwt: as a program, with OAuth client credentials. cross_app_access: as a person, by the identity provider of the company (`idp`).',
      },
      client_id: {
        type: 'string',
        minLength: 1,
        description: 'The OAuth client. Default with login: registered automatically.',
      },
      client_secret: {
        type: 'string',
        minLength: 1,
        description: 'Its secret, such as ${env:CLIENT_SECRET}.',
      },
      private_key: {
        type: 'string',
        minLength: 1,
        description: 'Its private key (PEM, PKCS #8), such as ${env:CLIENT_KEY}.',
      },
      algorithm: {
        type: 'string',
        minLength: 1,
        description: 'The algorithm of the key, such as ES256 or RS256. Default: ES256.',
      },
      idp: {
        type: 'object',
        description:
          'With cross_app_access: the identity provider, which exchanges the ID token for a grant.',
        additionalProperties: false,
        required: ['token_endpoint', 'client_id', 'id_token'],
        properties: {
          token_endpoint: {
            type: 'string',
            pattern: '^https?://',
            [usual]: '',
            description: 'The URL of its token endpoint.',
          },
          client_id: { type: 'string', minLength: 1, [usual]: '', description: 'The OAuth client there.' },
          id_token: {
            type: 'string',
            minLength: 1,
            [usual]: '',
            description: 'The ID token of the person, such as ${env:ID_TOKEN}.',
          },
        },
      },
      issuer: {
        type: 'string',
        pattern: '^https?://',
        description:
          'The URL of the authorization server that may receive `client_secret` or a signature of `private_key`. Needed with either.',
      },
      scopes: {
        ...names,
        [usual]: [],
        description: 'Scopes to ask for. Default: those that the server asks for.',
      },
    },
  },
  pins: {
    type: 'string',
    enum: ['first_seen', 'required'],
    [usual]: 'first_seen',
    description:
      'What may be called. first_seen: definitions as they were when the server was first seen, or as a person accepted them. required: only what a person has accepted with `signalbox mcp pin NAME`. Default: first_seen.',
  },
  pass: {
    type: 'array',
    items: { type: 'string', enum: channels },
    uniqueItems: true,
    [usual]: ['resources', 'prompts', 'completions', 'logging', 'elicitation', 'subscriptions'],
    description:
      'What `signalbox mcp --proxy` passes besides tools, after the hooks. Default: all but sampling and roots.',
  },
} as const;

export const mcpServersSchema = {
  type: ['array', 'null'],
  description:
    'MCP servers whose tools can be called here as NAME__TOOL, behind the same hooks and approvals as all others.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: serverKeys,
  },
} as const;

/** A server with `exec` is a program that speaks over stdio; any other has a `url`. */
export interface McpServerConfig extends Omit<Fields<typeof serverKeys>, 'transport'> {
  readonly exec?: ExecConfig;
  readonly position: SourceLocation;
}

/** Leaves out entries that cannot be used, which `checkMcpServers` reports. */
export function readMcpServers(document: YamlDocument): readonly McpServerConfig[] | undefined {
  const servers = serversIn(document)
    .filter((path) => new RegExp(namePattern).test(textAt(document, [...path, 'name']) ?? ''))
    .filter((path) => !findFaults(document, path).some(isError))
    .map((path): McpServerConfig => {
      const { transport: _, ...server } = readFields(document, path, serverKeys);
      const position = document.positionOf(path);
      return {
        ...server,
        position,
        ...(server.url === undefined && { exec: readServerExec(document, path) }),
      };
    });
  return servers.length === 0 ? undefined : servers;
}

const processKeys = { command, args, sandbox, limits, nice, grace_ms, max_output_bytes } as const;

function readServerExec(document: YamlDocument, path: Path): ExecConfig {
  const { timeout_ms } = execProperties;
  const exec = readFields(document, path, { ...processKeys, timeout_ms });
  const cwd = nonEmptyTextAt(document, [...path, 'working_dir']);
  const env = Object.entries(textsByNameAt(document, [...path, 'env']) ?? {});
  return {
    ...exec,
    ...(cwd !== undefined && { cwd }),
    ...(findNul(document, path) !== undefined && { refused: 'it contains a NUL character' }),
    env: env.map(([name, value]) => `${name}=${value}`),
    runtime: 'server',
    dialect: 'promptkit',
    position: document.positionOf([...path, 'command']),
  };
}

function serversIn(document: YamlDocument): Path[] {
  return itemsAt(document, ['spec', 'mcp_servers']);
}

/** The entries that start a program, with their names. */
export function mcpServerPrograms(document: YamlDocument): { name: string; path: Path; value: unknown }[] {
  return serversIn(document)
    .filter((path) => valueAt(document, [...path, 'command']) !== undefined)
    .map((path) => ({
      name: textAt(document, [...path, 'name']) ?? '',
      path,
      value: valueAt(document, path),
    }));
}

/** `unusable`: the severity of entries that are left out. */
export function checkMcpServers(document: YamlDocument, unusable: 'error' | 'warning'): Finding[] {
  const servers = serversIn(document);
  const nameAt = (path: Path) => textAt(document, [...path, 'name']) ?? '';
  const twice = servers.filter((path, index) =>
    servers.slice(0, index).some((other) => nameAt(other) === nameAt(path)),
  );
  const tools = entriesAt(document, ['spec', 'tools']);
  return [
    ...servers.flatMap((path) =>
      findFaults(document, path).map((fault) =>
        unusable === 'error' || !isError(fault)
          ? fault
          : { ...fault, severity: unusable, message: `${fault.message}; the server is left out` },
      ),
    ),
    ...twice.map((path) =>
      error(
        [...path, 'name'],
        `another server is already called ${nameAt(path)}`,
        'Give each server its own name.',
      ),
    ),
    ...servers.flatMap((path) =>
      tools
        .filter(({ name }) => name.startsWith(`${nameAt(path)}${toolSeparator}`))
        .map((tool) => ({
          ...error(
            tool.path,
            `its name belongs to the MCP server ${nameAt(path)}`,
            'Rename the tool or the server.',
          ),
          atKey: true,
        })),
    ),
  ];
}

function findFaults(document: YamlDocument, path: Path): Finding[] {
  const at = (key: string) => [...path, key];
  const has = (key: string) => valueAt(document, at(key)) !== undefined;
  const hosted = (['source', 'scope'] as const).find(has);
  if (hosted !== undefined)
    return [
      error(
        at(hosted),
        'servers that a host provides are not supported',
        'Declare the server by `command` or `url`.',
      ),
    ];
  if (has('command') === has('url'))
    return [
      has('url')
        ? error(path, '`command` and `url` cannot be combined', 'Name one of them.')
        : error(
            path,
            'it has neither `command` nor `url`',
            'Name the program that speaks MCP over stdio, or the URL of the server.',
          ),
    ];
  const transport = textAt(document, at('transport'));
  if (transport === 'sse')
    return [
      error(
        at('transport'),
        'sse is not supported',
        'Use `transport: streamable_http`, with the URL that the server has for it.',
      ),
    ];
  const own = has('url') ? 'streamable_http' : 'stdio';
  if (transport !== undefined && transport !== own)
    return [
      error(
        at('transport'),
        `must be ${own} for an entry with \`${has('url') ? 'url' : 'command'}\``,
        'Correct it, or remove it.',
      ),
    ];
  const idle = (has('url') ? ofPrograms : ofUrls).find(has);
  if (idle !== undefined)
    return [
      error(
        at(idle),
        `\`${idle}\` cannot be combined with \`${has('url') ? 'url' : 'command'}\``,
        'Remove it.',
      ),
    ];
  return has('url')
    ? [
        ...checkUrl(document, at('url')),
        ...checkHeaders(document, at('headers')),
        ...checkAuth(document, at('auth')),
      ]
    : [];
}

const ofPrograms = ['args', 'env', 'working_dir', 'sandbox', 'limits', 'nice', 'grace_ms'];
const ofUrls = ['headers', 'auth'];

/** Messages omit the URL, which may contain a secret. */
function checkUrl(document: YamlDocument, path: Path): Finding[] {
  const url = URL.parse(nonEmptyTextAt(document, path) ?? '');
  if (url === null || !/^https?:$/.test(url.protocol))
    return [error(path, 'must be an http or https URL', 'Write it like https://host/mcp.')];
  if (url.username !== '' || url.password !== '')
    return [error(path, 'it contains a user or a password', 'Use `headers` or `auth`.')];
  const isOpen = url.protocol === 'http:' && !isLoopbackName(url.hostname);
  if (!isOpen) return [];
  return [
    {
      ...error(path, 'http sends everything in the clear', 'Use https, unless the network is trusted.'),
      severity: 'warning',
    },
  ];
}

function checkHeaders(document: YamlDocument, path: Path): Finding[] {
  return entriesAt(document, path).flatMap(({ name, path: place }): Finding[] => {
    const isReserved =
      /^(host|content-(type|length)|transfer-encoding|connection|accept|last-event-id|mcp-.*)$/i.test(name);
    if (isReserved) return [{ ...error(place, 'is set by Signalbox itself', 'Remove it.'), atKey: true }];
    try {
      new Headers([[name, textAt(document, place) ?? '']]);
      return [];
    } catch {
      return [{ ...error(place, 'is not a valid HTTP header', 'Correct its name or value.'), atKey: true }];
    }
  });
}

function checkAuth(document: YamlDocument, path: Path): Finding[] {
  if (!isObject(valueAt(document, path))) return [];
  const type = textAt(document, [...path, 'type']) ?? '';
  const needed: Readonly<Record<string, readonly string[]>> = {
    client_credentials: ['client_id', 'client_secret', 'issuer'],
    private_key_jwt: ['client_id', 'private_key', 'issuer'],
    cross_app_access: ['client_id', 'client_secret', 'issuer'],
    login: valueAt(document, [...path, 'client_secret']) === undefined ? [] : ['client_id', 'issuer'],
  };
  if (type === 'cross_app_access' && !isObject(valueAt(document, [...path, 'idp'])))
    return [error(path, '`type: cross_app_access` needs `idp`', 'Add `idp`.')];
  return (needed[type] ?? [])
    .filter((key) => nonEmptyTextAt(document, [...path, key]) === undefined)
    .map((key) => error(path, `\`type: ${type}\` needs \`${key}\``, `Add \`${key}\`.`));
}

function error(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
