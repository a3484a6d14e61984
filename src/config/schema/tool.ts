import { milliseconds } from '../../dialects/dialect-config.ts';
import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import { approvalSchema } from './approval.ts';
import { toolDialect, toolExecSchema } from './exec.ts';

/** Kinds of work that a tool may do. */
const toolCategories = [
  'memory',
  'fs_read',
  'fs_write',
  'shell',
  'network',
  'index',
  'flow',
  'vfs',
  'plugin',
  'mcp',
  'synthesised',
  'eval',
] as const;

/** The text, and what the dialects have to say of the key. */
function describe(key: string, text: string): string {
  const remarks = foreignNames.flatMap((name) => foreignDialects[name].entry.toolRemarks?.[key] ?? []);
  return [text, ...remarks].join(' ');
}

export const toolSchema = {
  type: ['object', 'null'],
  description: 'A tool. Without `exec` it is listed, and a call of it fails.',
  additionalProperties: false,
  properties: {
    description: { type: 'string', description: 'What the tool does; the model reads it.' },
    input_schema: {
      type: ['object', 'boolean'],
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) of the arguments, checked before the process starts.',
    },
    output_schema: {
      type: ['object', 'boolean'],
      description: 'JSON Schema of the result, checked before anybody sees it.',
    },
    timeout_ms: { ...milliseconds, description: 'The timeout of `exec` where that has none of its own.' },
    exec: toolExecSchema,
    dialect: { ...toolDialect, description: 'The same as `exec.dialect`.' },
    approval: approvalSchema,
    idempotent: {
      type: 'boolean',
      description:
        'Whether a call that was cut off may be made again. true: yes, and the tool is given an idempotency_key. false: only if a person says so. Default: yes.',
    },
    category: {
      type: 'string',
      enum: toolCategories,
      description: describe('category', 'What kind of work the tool does.'),
    },
    aliases: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: describe('aliases', 'Names that other systems have for the tool, as in [Bash].'),
    },
    mode: {
      type: 'string',
      description: 'PromptKit’s word for how the tool runs; with `exec` it must be exec.',
    },
    name: { type: 'string', description: 'PromptKit’s own name of the tool; the key is what counts.' },
    mock_result: { description: 'PromptKit’s fixed answer. Not used.' },
    mock_template: { description: 'PromptKit’s template for an answer. Not used.' },
    mock_parts: { description: 'PromptKit’s fixed multimodal answer. Not used.' },
    http: { description: 'PromptKit’s HTTP binding. Not used.' },
    client: { description: 'PromptKit’s client-side binding. Not used.' },
  },
} as const;
