import { phasesOf } from '../../contract/hook.ts';
import { execProperties, foreignNames, hookDialect, serverOnly } from './exec.ts';
import { agentaoSchema, claudeSchema, picoclawSchema } from './foreign.ts';

const kinds = Object.keys(phasesOf);
const allPhases = Object.values(phasesOf).flat();

function kindRule(kind: string, phases: readonly string[], modes: readonly string[]): object {
  return {
    if: { properties: { hook: { const: kind } }, required: ['hook'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { phases: { items: { enum: phases } }, mode: { enum: modes } } },
  };
}

const isOf = (dialect: string): object => ({
  properties: { dialect: { const: dialect } },
  required: ['dialect'],
});

/**
 * The required and forbidden keys of an entry of one foreign dialect; blocks of other dialects are forbidden.
 */
function dialectRule(dialect: string, then: { required: readonly string[]; properties: object }): object {
  const otherBlocks = ['picoclaw', 'claude', 'agentao'].filter((block) => block !== dialect);
  const properties = {
    ...Object.fromEntries(otherBlocks.map((block) => [block, false])),
    ...then.properties,
  };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: isOf(dialect), then: { ...then, properties } };
}

/** The native keys that are not allowed where the settings of the dialect say when a hook runs. */
const withoutNativeKeys = { hook: false, phases: false, mode: false, runtime: { const: 'exec' } } as const;

const nativeRule = {
  if: { properties: { dialect: { enum: foreignNames } }, required: ['dialect'] },
  else: { required: ['command', 'hook'], properties: { picoclaw: false, claude: false, agentao: false } },
};

const dialectRules = [
  nativeRule,
  dialectRule('picoclaw', {
    required: ['command'],
    properties: { mode: false, runtime: { const: 'server' }, hook: { enum: ['provider', 'tool'] } },
  }),
  dialectRule('chibi', { required: ['command'], properties: withoutNativeKeys }),
  dialectRule('claude', { required: ['claude'], properties: withoutNativeKeys }),
  dialectRule('agentao', { required: ['agentao'], properties: { ...withoutNativeKeys, args: false } }),
];

export const hookSchema = {
  type: 'object',
  description: 'A program that is asked about, or told of, what happens around calls.',
  additionalProperties: false,
  properties: {
    ...execProperties,
    command: {
      ...execProperties.command,
      description: `${execProperties.command.description} A shell line for agentao, and for claude without \`args\`. Required, but for a claude handler of type http and an agentao prompt.`,
    },
    dialect: hookDialect,
    hook: {
      type: 'string',
      enum: kinds,
      description:
        'What the hook is about. Required in the native dialects; short for both methods of a pair in picoclaw.',
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
    picoclaw: picoclawSchema,
    claude: claudeSchema,
    agentao: agentaoSchema,
  },
  allOf: [
    // A picoclaw process always stays.
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { if: { not: isOf('picoclaw') }, then: serverOnly },
    kindRule('provider', phasesOf.provider, ['filter', 'observe', 'shadow']),
    kindRule('tool', phasesOf.tool, ['filter', 'observe', 'shadow']),
    kindRule('session', phasesOf.session, ['observe']),
    kindRule('eval', phasesOf.eval, ['observe']),
    ...dialectRules,
  ],
} as const;
