import { execSchema, milliseconds } from './schema-exec.ts';

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
    exec: execSchema,
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
