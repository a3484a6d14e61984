const expression = { type: 'string', pattern: '^\\$\\{' } as const;

function textOr(type: 'object' | 'array' | 'integer', more: object, description: string): object {
  return { type: [type, 'string'], pattern: expression.pattern, ...more, description };
}

const contextSchema = textOr(
  'object',
  {
    additionalProperties: false,
    properties: {
      messages: textOr('array', {}, 'The conversation: `{role, content}` and whatever else a message holds.'),
      turn_index: textOr('integer', { minimum: 0 }, 'Which turn is judged, from 0.'),
      tool_calls: textOr('array', {}, 'The tool calls: `{name, args, result, error, index}`.'),
      variables: textOr('object', {}, 'Variables of the prompt.'),
      metadata: textOr('object', {}, 'Whatever else the evals may want to know.'),
      session_id: { type: 'string', description: 'The session that the text comes from.' },
      prompt_id: { type: 'string', description: 'The prompt that the text answers.' },
    },
  },
  'The conversation around the text. What is left out is empty.',
);

const caseSchema = {
  type: 'object',
  description:
    'How a row becomes a case; expressions see the row as `case`. Without it a row has these members itself.',
  additionalProperties: false,
  properties: {
    id: {
      type: ['string', 'integer'],
      description: 'Names the case. Default: the number of its row, from 1.',
    },
    content: { type: 'string', description: 'The text to judge.' },
    context: contextSchema,
    tags: {
      type: ['array', 'string'],
      pattern: expression.pattern,
      items: { type: ['string', 'number', 'boolean', 'null'] },
      description: 'Groups that the case counts in; empty ones are dropped.',
    },
  },
} as const;

const score = { type: 'number', minimum: 0, maximum: 1 } as const;

const thresholdSchema = {
  type: 'object',
  description: 'Inclusive bounds that a score must keep. Without any, a score of 1 passes.',
  additionalProperties: false,
  properties: {
    min_score: { ...score, description: 'The lowest score that passes.' },
    max_score: { ...score, description: 'The highest score that passes.' },
  },
} as const;

const evalSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type'],
  properties: {
    id: { type: 'string', minLength: 1, description: 'Names the eval in the report and in gates.' },
    type: { type: 'string', minLength: 1, description: 'An eval of the runtime.' },
    params: textOr('object', {}, 'Parameters of the eval; expressions see the row as `case`.'),
    content: { type: 'string', description: 'Judged in place of the content of the case.' },
    threshold: thresholdSchema,
    role: {
      type: 'string',
      enum: ['assertion', 'guardrail', 'metric'],
      description: 'assertion (default), guardrail: must pass. metric: only recorded.',
    },
  },
} as const;

const gateSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['eval', 'metric'],
  anyOf: [{ required: ['min'] }, { required: ['max'] }],
  properties: {
    eval: { type: 'string', minLength: 1, description: 'The id of an eval of this suite.' },
    metric: {
      type: 'string',
      enum: ['pass_rate', 'mean'],
      description: 'pass_rate: of all results, unscored ones included. mean: of the scores.',
    },
    tag: { type: 'string', minLength: 1, description: 'Only the cases of this tag.' },
    min: { ...score, description: 'The lowest value that passes.' },
    max: { ...score, description: 'The highest value that passes.' },
  },
} as const;

const specSchema = {
  type: 'object',
  description: 'What is judged, by what, and when that is good enough.',
  additionalProperties: false,
  required: ['evals'],
  oneOf: [{ required: ['dataset'] }, { required: ['cases'] }],
  properties: {
    runtime: {
      type: 'string',
      minLength: 1,
      description: 'The RuntimeConfig that declares the evals, relative to this file.',
    },
    dataset: {
      type: 'object',
      description: 'Rows in a file of their own.',
      additionalProperties: false,
      required: ['path'],
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: 'A file with one JSON object per line, relative to this file; `-` for stdin.',
        },
      },
    },
    cases: { type: 'array', minItems: 1, items: { type: 'object' }, description: 'Rows in this file.' },
    case: caseSchema,
    evals: { type: 'array', minItems: 1, items: evalSchema, description: 'What each case is judged by.' },
    gates: {
      type: 'array',
      items: gateSchema,
      description: 'When the suite passes. Without gates: when every assertion and guardrail does.',
    },
  },
} as const;

/** Everything that an EvalSuite may say, as a JSON Schema (2020-12). */
export const suiteSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://signalbox.dev/schema/suite.schema.json',
  title: 'Signalbox EvalSuite',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind', 'spec'],
  properties: {
    $schema: { type: 'string', description: 'Where an editor finds this schema.' },
    apiVersion: { type: 'string', const: 'signalbox/v1', description: 'Always signalbox/v1.' },
    kind: { type: 'string', const: 'EvalSuite', description: 'Always EvalSuite.' },
    metadata: {
      type: 'object',
      description: 'Who this file is.',
      additionalProperties: false,
      properties: {
        name: {
          type: 'string',
          minLength: 1,
          description: 'Name of the suite in reports. Default: that of the file.',
        },
        namespace: { type: 'string', description: 'A group of suites. Only kept.' },
        labels: { type: 'object', description: 'Free words to sort suites by. Only kept.' },
        annotations: { type: 'object', description: 'Free notes. Only kept.' },
      },
    },
    spec: specSchema,
  },
} as const;
