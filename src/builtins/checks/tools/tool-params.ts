import type { ParamSpec } from '../check.ts';
import { textsParam } from '../text/text-params.ts';

/** PromptKit uses `tool` in some checks and `tool_name` in others; each check accepts both. */
export const toolName: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  aliases: ['tool'],
  required: true,
  description: 'The tool.',
};

export const anyToolName: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  aliases: ['tool'],
  description: 'The tool. Default: every tool.',
};

export const tool: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  aliases: ['tool_name'],
  required: true,
  description: 'The tool.',
};

export const anyTool: ParamSpec = {
  schema: { type: 'string', minLength: 1 },
  aliases: ['tool_name'],
  description: 'The tool. Default: every tool.',
};

export const toolNames: ParamSpec = {
  schema: textsParam,
  aliases: ['tools'],
  required: true,
  description: 'The tools.',
};

export const someTools: ParamSpec = {
  schema: textsParam,
  aliases: ['tool_names'],
  description: 'The tools that count. Default: every tool.',
};

export function countParam(description: string, minimum = 0): ParamSpec {
  return { schema: { type: 'integer', minimum }, description };
}

export function flagParam(description: string): ParamSpec {
  return { schema: { type: 'boolean' }, default: false, description };
}

export const resultPatterns: ParamSpec = {
  schema: textsParam,
  required: true,
  description: 'Texts that one result must contain, all of them, in any case.',
};

export const occurrence: ParamSpec = {
  ...countParam('How many calls must have such a result.', 1),
  default: 1,
};
