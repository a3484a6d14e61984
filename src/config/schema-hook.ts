import { phasesOf } from '../contract/hook.ts';
import { execProperties, serverOnly } from './schema-exec.ts';

const kinds = Object.keys(phasesOf);
const allPhases = Object.values(phasesOf).flat();

function ruleOf(kind: string, phases: readonly string[], modes: readonly string[]): object {
  return {
    if: { properties: { hook: { const: kind } }, required: ['hook'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { phases: { items: { enum: phases } }, mode: { enum: modes } } },
  };
}

export const hookSchema = {
  type: 'object',
  description: 'A program that is asked about, or told of, what happens around calls.',
  additionalProperties: false,
  required: ['command', 'hook'],
  properties: {
    ...execProperties,
    hook: { type: 'string', enum: kinds, description: 'What the hook is about.' },
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
  },
  allOf: [
    serverOnly,
    ruleOf('provider', phasesOf.provider, ['filter', 'observe', 'shadow']),
    ruleOf('tool', phasesOf.tool, ['filter', 'observe', 'shadow']),
    ruleOf('session', phasesOf.session, ['observe']),
    ruleOf('eval', phasesOf.eval, ['observe']),
  ],
} as const;
