/** Settings of a chat beyond its conversation, as JSON Schemas. */
export const chatOptionSchemas = {
  output: {
    type: 'object',
    description:
      'Asks for an answer that is JSON: it must fit the schema, and expressions see it as `steps.ID.object`.',
    additionalProperties: false,
    required: ['schema'],
    properties: {
      schema: {
        type: 'object',
        description: 'JSON Schema (2020-12, or draft-07 by its `$schema`) of the answer.',
      },
    },
  },
  tool_choice: {
    type: ['string', 'object'],
    pattern: '^(auto|none|required)$',
    description:
      'Whether the model calls tools. auto (default): as it likes. none: it may not. required, or a mapping with one of the tools: it must, until tools have been called once; then auto.',
    additionalProperties: false,
    required: ['tool'],
    properties: { tool: { type: 'string', minLength: 1, description: 'The tool that it must call.' } },
  },
  top_p: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Share of the likeliest words to choose from; in place of the provider’s own.',
  },
  stop: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    description: 'Texts at which the model ends its answer; they are no part of it.',
  },
  seed: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The same seed asks for the same answer, where the provider knows seeds.',
  },
} as const;
