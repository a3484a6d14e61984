import { type Fields, read, usual } from '../base/yaml/fields.ts';
import { textsByNameAt } from '../base/yaml/read.ts';
import { type HookKind, type HookMode, type Phase, phasesOf } from '../contract/hook.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import { type ExecConfig, execProperties, hookDialect, runtimeRules, warmServer } from './exec.ts';

const kinds = Object.keys(phasesOf);
const allPhases = Object.values(phasesOf).flat();

function kindRule(kind: string, phases: readonly string[], modes: readonly string[]): object {
  return {
    if: { properties: { hook: { const: kind } }, required: ['hook'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { phases: { items: { enum: phases } }, mode: { enum: modes } } },
  };
}

/** Nobody reads the answer of a hook that only observes. */
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

/** The schemas of the mappings that belong to one dialect each, by its name. */
const blocks: Readonly<Record<string, object>> = Object.fromEntries(
  foreignNames.flatMap((name) => {
    const { block } = foreignDialects[name].entry;
    return block === undefined ? [] : [[name, block]];
  }),
);

const withoutBlocks = Object.keys(blocks).map((block) => [block, false] as const);

/**
 * The required and forbidden keys of an entry of each foreign dialect; blocks of other dialects are forbidden.
 */
const dialectRules = foreignNames.map((dialect): object => {
  const { required, properties } = foreignDialects[dialect].entry;
  const otherBlocks = withoutBlocks.filter(([block]) => block !== dialect);
  return {
    if: isOf(dialect),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required, properties: { ...Object.fromEntries(otherBlocks), ...properties } },
  };
});

/** What only a process has; an endpoint has none. */
const processKeys = [
  ...['command', 'args', 'runtime', 'env', 'cwd', 'instances', 'warm', 'sandbox'],
  ...['grace_ms', 'leftovers', 'limits', 'nice'],
];

/** Whether a hook that is an endpoint cannot have the key. */
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

/** The dialects whose processes always stay. */
const serverDialects = foreignNames.filter((name) => foreignDialects[name].entry.isServer === true);

/** What the dialects have to say of a key, in their order. */
function remarksOn(key: string): string[] {
  return foreignNames.flatMap((name) => foreignDialects[name].entry.hookRemarks?.[key] ?? []);
}

const names = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1 },
} as const;

export const matchSchema = {
  type: 'object',
  description:
    'Which events of its phases a native hook hears of; no process starts for others. All that is said must hold. Default: every event.',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    tools: { ...names, description: 'Names of tools; `*` stands for any characters, `?` for one.' },
    providers: { ...names, description: 'Ids of providers; likewise.' },
    models: { ...names, description: 'Names of models; likewise.' },
    when: {
      type: 'string',
      description:
        'An expression over `event`, such as ${event.request.args.amount > 100}. Where it fails, the hook is asked.',
    },
  },
} as const;

/** What a hook that is an endpoint has. */
export const endpointKeys = {
  url: {
    type: 'string',
    minLength: 1,
    description:
      'Of a native hook, in place of `command`: an http or https address that its questions are posted to. Anything but status 200 and JSON is a failure; redirects are not followed.',
  },
  headers: {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    [read]: textsByNameAt,
    [usual]: {},
    description: 'HTTP headers that go with every question, such as {Authorization: "Bearer ${env:TOKEN}"}.',
  },
  ca: {
    type: 'string',
    minLength: 1,
    description:
      'A file of certificates, relative to this file’s folder: the server’s own must be of these. Default: those that the system trusts.',
  },
} as const;

export const hookSchema = {
  type: 'object',
  description: 'A program that is asked about, or told of, what happens around calls.',
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
      description: `${['What the hook is about. Required in the native dialects', ...remarksOn('hook')].join('; ')}.`,
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
        'filter: asked and obeyed, the default of provider and tool hooks. observe: told, never waited for, the only mode of session and eval hooks. shadow: asked beside the path, its verdict only recorded.',
    },
    modifies: {
      type: 'boolean',
      description:
        'false: the filter never answers with `replace`, so it is asked together with those beside it that never do. One that does so nevertheless denies. Default: true.',
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

/** Which events of its phases a hook hears of: all that is said must hold. */
export type HookMatch = Fields<typeof matchSchema.properties>;

export interface HookConfig {
  readonly name: string;
  /** Its index among all hooks of the file, foreign ones included; from 0. */
  readonly fileIndex: number;
  readonly exec: ExecConfig;
  readonly hook: HookKind;
  /** Never empty: an entry without `phases` has every phase of its kind. */
  readonly phases: readonly Phase[];
  readonly mode: HookMode;
  /** It declares that it never replaces a part of an event; absent: it may. */
  readonly modifies?: false;
  /** Absent: it hears of every event of its phases. */
  readonly match?: HookMatch;
  /** `external`: `match` names only tools or providers that others bring; `none`: only ones that cannot be. Absent: declared ones. */
  readonly reach?: 'external' | 'none';
}
