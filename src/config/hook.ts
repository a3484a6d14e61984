import { type ExpressionError, findExpressionErrors } from '../base/expression/expression.ts';
import { isObject } from '../base/json/json.ts';
import { matchesGlob } from '../base/text/glob.ts';
import { findNearest } from '../base/text/suggest.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { entriesAt, itemsAt, textAt, textsByNameAt, valueAt } from '../base/yaml/read.ts';
import { type HookKind, type HookMode, type Phase, phasesOf } from '../contract/hook.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import {
  type EndpointConfig,
  type ExecConfig,
  execProperties,
  foreignAt,
  hookDialect,
  runtimeRules,
  warmServer,
} from './exec.ts';

const kinds = Object.keys(phasesOf);
const allPhases = Object.values(phasesOf).flat();

function kindRule(kind: string, phases: readonly string[], modes: readonly string[]): object {
  return {
    if: { properties: { hook: { const: kind } }, required: ['hook'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { phases: { items: { enum: phases } }, mode: { enum: modes } } },
  };
}

/** The answer of an observing hook is ignored. */
const observerRule = {
  if: {
    anyOf: [
      { properties: { mode: { const: 'observe' } }, required: ['mode'] },
      { properties: { hook: { enum: ['session', 'eval'] } }, required: ['hook'] },
    ],
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { modifies: false } },
};

const isOf = (dialect: string): object => ({
  properties: { dialect: { const: dialect } },
  required: ['dialect'],
});

const isOneOf = (dialects: readonly string[]): object => ({
  properties: { dialect: { enum: dialects } },
  required: ['dialect'],
});

const blocks: Readonly<Record<string, object>> = Object.fromEntries(
  foreignNames.flatMap((name) => {
    const { block } = foreignDialects[name].entry;
    return block === undefined ? [] : [[name, block]];
  }),
);

const withoutBlocks = Object.keys(blocks).map((block) => [block, false] as const);

const dialectRules = foreignNames.map((dialect): object => {
  const { required, properties } = foreignDialects[dialect].entry;
  const otherBlocks = withoutBlocks.filter(([block]) => block !== dialect);
  return {
    if: isOf(dialect),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required, properties: { ...Object.fromEntries(otherBlocks), ...properties } },
  };
});

const processKeys = [
  ...['command', 'args', 'runtime', 'env', 'cwd', 'instances', 'warm', 'sandbox'],
  ...['grace_ms', 'leftovers', 'limits', 'nice'],
];

export function isProcessKey(key: string): boolean {
  return processKeys.includes(key);
}

const endpointRule = {
  if: { required: ['url'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['hook'], properties: Object.fromEntries(processKeys.map((key) => [key, false])) },
  else: { required: ['command', 'hook'], properties: { headers: false, ca: false } },
};

const nativeRule = {
  if: isOneOf(foreignNames),
  else: { properties: Object.fromEntries(withoutBlocks), allOf: [endpointRule] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { match: false, external: false, url: false, headers: false, ca: false } },
};

const serverDialects = foreignNames.filter((name) => foreignDialects[name].entry.isServer === true);

function remarksOn(key: string): string[] {
  return foreignNames.flatMap((name) => foreignDialects[name].entry.hookRemarks?.[key] ?? []);
}

const names = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1 },
} as const;

const matchSchema = {
  type: 'object',
  description:
    'Which events of its phases a native hook receives; no process starts for others. All conditions must hold. Default: every event.',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    tools: { ...names, description: 'Names of tools; `*` matches any characters, `?` exactly one.' },
    providers: { ...names, description: 'Ids of providers, with the same wildcards.' },
    models: { ...names, description: 'Names of models, with the same wildcards.' },
    when: {
      type: 'string',
      description:
        'An expression over `event`, such as ${event.request.args.amount > 100}. If it fails, the hook runs.',
    },
  },
} as const;

const endpointKeys = {
  url: {
    type: 'string',
    minLength: 1,
    description:
      'For a native hook, instead of `command`: an http or https URL to which its events are posted. Any answer other than status 200 and JSON is a failure; redirects are not followed.',
  },
  headers: {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    [read]: textsByNameAt,
    [usual]: {},
    description: 'HTTP headers of every request, such as {Authorization: "Bearer ${env:TOKEN}"}.',
  },
  ca: {
    type: 'string',
    minLength: 1,
    description:
      'A file of certificates, relative to this file’s folder; the server’s certificate must chain to one of them. Default: the certificates that the system trusts.',
  },
} as const;

export const hookSchema = {
  type: 'object',
  description: 'A program that receives events around calls, and may decide about them.',
  additionalProperties: false,
  properties: {
    ...execProperties,
    command: {
      ...execProperties.command,
      description: [execProperties.command.description, ...remarksOn('command')].join(' '),
    },
    ...endpointKeys,
    dialect: hookDialect,
    hook: {
      type: 'string',
      enum: kinds,
      description: `${['What the events are about. Required in the native dialects', ...remarksOn('hook')].join('; ')}.`,
    },
    phases: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: allPhases },
      description:
        'When it is called: before_call, after_call (provider); before_execution, after_execution (tool); session_start, session_update, session_end (session); scored (eval). Default: every phase of its kind.',
    },
    mode: {
      type: 'string',
      enum: ['filter', 'observe', 'shadow'],
      description:
        'filter: its decision is enforced; the default of provider and tool hooks. observe: it receives events but cannot delay or block a call; the only mode of session and eval hooks. shadow: it receives the same events as a filter, but its decision is only recorded.',
    },
    modifies: {
      type: 'boolean',
      description:
        'false: the filter never answers with `replace`, so it runs at the same time as neighbors that never do so either. If it does answer so, the call is denied. Default: true.',
    },
    match: matchSchema,
    external: {
      type: 'boolean',
      description:
        'true: clients, agents or servers bring the tools and providers that `match` names, so the names may be undeclared here. Default: false.',
    },
    ...blocks,
  },
  allOf: [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { if: isOneOf(serverDialects), then: warmServer, else: { allOf: runtimeRules } },
    kindRule('provider', phasesOf.provider, ['filter', 'observe', 'shadow']),
    kindRule('tool', phasesOf.tool, ['filter', 'observe', 'shadow']),
    kindRule('session', phasesOf.session, ['observe']),
    kindRule('eval', phasesOf.eval, ['observe']),
    observerRule,
    nativeRule,
    ...dialectRules,
  ],
} as const;

/** Selects events of the hook's phases; all conditions must hold. */
export type HookMatch = Fields<typeof matchSchema.properties>;

export interface HookConfig {
  readonly name: string;
  /** The index among all hooks of the file, foreign ones included; from 0. */
  readonly fileIndex: number;
  readonly exec: ExecConfig;
  readonly hook: HookKind;
  /** Never empty: without `phases`, an entry has every phase of its kind. */
  readonly phases: readonly Phase[];
  readonly mode: HookMode;
  /** Declares that the hook never replaces parts of an event; absent: it may. */
  readonly modifies?: false;
  /** Absent: the hook receives every event of its phases. */
  readonly match?: HookMatch;
  /** `external`: `match` covers only undeclared names. `none`: nothing can match. Absent: declared names match. */
  readonly reach?: 'external' | 'none';
}

export function readEndpoint(document: YamlDocument, path: Path): EndpointConfig | undefined {
  const { url, ...endpoint } = readFields(document, path, endpointKeys);
  return url === undefined ? undefined : { url, ...endpoint };
}

/** Reports addresses and headers that are invalid in HTTP. */
export function checkEndpoints(document: YamlDocument): Finding[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ path }) => {
    const endpoint = readEndpoint(document, path);
    return endpoint === undefined ? [] : [...checkUrl(endpoint, path), ...checkHeaders(document, path)];
  });
}

function checkUrl({ url, ca }: EndpointConfig, path: Path): Finding[] {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    // The message omits the address, which may contain a secret.
    return [{ severity: 'error', path: [...path, 'url'], message: 'must be an http or https address' }];
  }
  if (ca === undefined || parsed.protocol === 'https:') return [];
  const message = 'is only used with an https address';
  return [{ severity: 'error', path: [...path, 'ca'], message, atKey: true }];
}

function checkHeaders(document: YamlDocument, path: Path): Finding[] {
  return entriesAt(document, [...path, 'headers']).flatMap(({ name, path: place }): Finding[] => {
    if (reserved.has(name.toLowerCase())) {
      return [{ severity: 'error', path: place, message: 'is set by Signalbox itself', atKey: true }];
    }
    try {
      new Headers([[name, textAt(document, place) ?? '']]);
      return [];
    } catch {
      return [{ severity: 'error', path: place, message: 'is not a valid HTTP header', atKey: true }];
    }
  });
}

const reserved = new Set(['host', 'content-type', 'content-length', 'transfer-encoding', 'connection']);

export function readMatch(document: YamlDocument, path: Path): HookMatch | undefined {
  const match = [...path, 'match'];
  return isObject(valueAt(document, match)) ? readFields(document, match, matchSchema.properties) : undefined;
}

export function readReach(document: YamlDocument, path: Path): HookConfig['reach'] {
  const reaches = matchedKeys.map((key) => {
    const patterns = readMatch(document, path)?.[key];
    const known = surroundingsOf(document)[key];
    const isReached = patterns?.some((pattern) => known.some((name) => matchesGlob(pattern, name))) ?? true;
    if (isReached) return undefined;
    return isOpen(document, path, key) ? 'external' : 'none';
  });
  return reaches.find((reach) => reach === 'none') ?? reaches.find((reach) => reach === 'external');
}

const matchedKeys = ['tools', 'providers'] as const;
type MatchedKey = (typeof matchedKeys)[number];

type Surroundings = Readonly<Record<MatchedKey, readonly string[]>> & { readonly bringsTools: boolean };

const surroundings = new WeakMap<YamlDocument, Surroundings>();

function surroundingsOf(document: YamlDocument): Surroundings {
  const known = surroundings.get(document) ?? {
    tools: entriesAt(document, ['spec', 'tools']).flatMap(({ name, path }) => [
      name,
      ...itemsAt(document, [...path, 'aliases']).flatMap((item) => textAt(document, item) ?? []),
    ]),
    providers: itemsAt(document, ['spec', 'providers']).flatMap(
      (path) => textAt(document, [...path, 'id']) ?? [],
    ),
    bringsTools:
      valueAt(document, ['spec', 'gateway', 'tools', 'hooks']) === true ||
      sourcesOfTools.some((section) => valueAt(document, ['spec', section]) !== undefined) ||
      entriesAt(document, ['spec', 'hooks']).some(({ path }) => {
        const dialect = foreignAt(document, path);
        return dialect !== undefined && foreignDialects[dialect].plugins !== undefined;
      }),
  };
  surroundings.set(document, known);
  return known;
}

/** Sections that bring undeclared tools. A gateway does too if tool hooks apply to its clients' tools. */
const sourcesOfTools = ['approvals', 'agents', 'imports', 'mcp_servers'];

function isOpen(document: YamlDocument, hook: Path, key: MatchedKey): boolean {
  if (valueAt(document, [...hook, 'external']) === true || key === 'providers') return true;
  const { tools, bringsTools } = surroundingsOf(document);
  return tools.length === 0 || bringsTools;
}

export function checkMatches(document: YamlDocument): Finding[] {
  return entriesAt(document, ['spec', 'hooks']).flatMap(({ path }) => {
    const match = [...path, 'match'];
    const when = [...match, 'when'];
    return [
      ...findForeignKeys(document, path),
      ...findExpressionErrors(valueAt(document, when), ['event'], 'bool').map((error) =>
        badExpression(when, error),
      ),
      ...matchedKeys.flatMap((key) => findUndeclared(document, path, key)),
    ];
  });
}

const kindOf = { tools: 'tool', providers: 'provider', models: 'provider' } as const;

function findForeignKeys(document: YamlDocument, path: Path): Finding[] {
  const hook = textAt(document, [...path, 'hook']);
  if (hook === undefined) return [];
  return Object.entries(kindOf)
    .filter(([key, kind]) => valueAt(document, [...path, 'match', key]) !== undefined && kind !== hook)
    .map(([key, kind]) => ({
      path: [...path, 'match', key],
      atKey: true,
      message: `only events of ${kind} hooks have ${key} (hook: ${hook})`,
      hint: 'Use `when`, an expression over the `event`.',
    }));
}

function badExpression(path: Path, { message, hint }: ExpressionError): Finding {
  const isUnknown = message.includes('Unknown variable');
  return { path, message, hint: isUnknown ? 'The expression sees the event as `event`.' : hint };
}

/** A hook for a name that nothing has guards nothing. */
function findUndeclared(document: YamlDocument, path: Path, key: MatchedKey): Finding[] {
  if (valueAt(document, [...path, 'external']) === true) return [];
  if (textAt(document, [...path, 'hook']) !== kindOf[key]) return [];
  const known = surroundingsOf(document)[key];
  const isExternal = isOpen(document, path, key);
  const thing = kindOf[key];
  return itemsAt(document, [...path, 'match', key]).flatMap((item): Finding[] => {
    const name = textAt(document, item) ?? '';
    if (known.some((each) => matchesGlob(name, each))) return [];
    const isPattern = /[*?]/.test(name);
    // Patterns may match tools that others bring or that are declared later.
    if (isPattern && isExternal) return [];
    const nearest = findNearest(name, known);
    const suggestion = nearest === undefined ? '' : `Did you mean \`${nearest}\`? `;
    return [
      {
        severity: isExternal || isPattern ? 'warning' : 'error',
        path: item,
        basis: ['spec', key],
        message: `no ${thing} is declared ${isPattern ? 'that matches' : 'as'} "${name}", so the hook never runs for it`,
        hint: `${suggestion}Set \`external: true\` on the hook if a client or an agent brings the ${thing}.`,
      },
    ];
  });
}
