import { compileExpressions } from '../../base/expression/expression.ts';
import { expressionAt } from '../../base/yaml/expressions.ts';
import { as, read, usual, usually } from '../../base/yaml/fields.ts';
import { chatSchema } from '../../pipelines/file/schema.ts';

export const mostVariants = 16;

const expressionPattern = '^\\$\\{';

/** A tree of expressions; no keys if it is absent. */
const mapping = { [read]: expressionAt, [usual]: compileExpressions({}, []) } as const;

function expressionOr(
  type: 'object' | 'array' | 'integer' | 'number' | 'boolean',
  more: object,
  description: string,
): object {
  return { type: [type, 'string'], pattern: expressionPattern, ...more, description };
}

const scoreRange = { minimum: 0, maximum: 1 } as const;

const contextSchema = expressionOr(
  'object',
  {
    additionalProperties: false,
    properties: {
      messages: expressionOr(
        'array',
        {},
        'The conversation: messages with `role`, `content` and any other members.',
      ),
      turn_index: expressionOr('integer', { minimum: 0 }, 'The turn to judge, counted from 0.'),
      tool_calls: expressionOr(
        'array',
        {},
        'The tool calls: `{name, args, result, error, index}`. Default: those of the messages.',
      ),
      variables: expressionOr('object', {}, 'Variables of the prompt.'),
      metadata: expressionOr('object', {}, 'Any other data that the evals need.'),
      session_id: { type: 'string', description: 'The session that the text comes from.' },
      prompt_id: { type: 'string', description: 'The prompt that the text answers.' },
    },
  },
  'The conversation around the text. A member that is left out is empty, or what the subject returned.',
);

const thresholdSchema = {
  type: 'object',
  description:
    'Inclusive bounds that a score must meet, or expressions over `case` that give them. Without any, a score of 1 passes.',
  additionalProperties: false,
  properties: {
    min_score: expressionOr('number', scoreRange, 'The lowest score that passes.'),
    max_score: expressionOr('number', scoreRange, 'The highest score that passes.'),
  },
} as const;

const caseSchema = {
  type: 'object',
  description:
    'How a row becomes a case. Expressions see the row as `case`, and what the subject returned as `subject`. Without it, the row itself must have these members.',
  additionalProperties: false,
  properties: {
    id: {
      type: ['string', 'integer'],
      description: 'The id of the case. Default: the number of its row, from 1.',
    },
    content: {
      type: 'string',
      description:
        'The text to judge. Default: what the subject returned, or the last answer of the messages.',
    },
    context: contextSchema,
    tags: {
      type: ['array', 'string'],
      pattern: expressionPattern,
      items: { type: ['string', 'number', 'boolean', 'null'] },
      description: 'Groups that the case counts in. Empty tags are dropped.',
    },
    threshold: {
      ...thresholdSchema,
      description:
        'When the case passes as a whole: bounds on the weighted mean of its scores. Without them, every assertion and guardrail must pass.',
    },
  },
} as const;

const checkMembers = {
  type: {
    type: 'string',
    minLength: 1,
    description: 'An eval of the runtime, or a built-in check (docs/reference/checks.md).',
  },
  params: expressionOr('object', {}, 'Parameters of the eval; expressions see the row as `case`.'),
  content: { type: 'string', description: 'The text to judge instead of the content of the case.' },
} as const;

const part = { $ref: '#/$defs/check' } as const;

const combinations = {
  not: { ...part, description: '1 minus the score of this check.' },
  any_of: { type: 'array', minItems: 1, items: part, description: 'The highest score of these checks.' },
  all_of: { type: 'array', minItems: 1, items: part, description: 'The lowest score of these checks.' },
} as const;

const oneKind = (kinds: readonly string[]) => ({ oneOf: kinds.map((kind) => ({ required: [kind] })) });

const checkSchema = {
  type: 'object',
  description: 'One check of a combination, or another combination.',
  additionalProperties: false,
  ...oneKind(['type', 'not', 'any_of', 'all_of']),
  properties: {
    ...checkMembers,
    ...combinations,
    threshold: {
      ...thresholdSchema,
      description: 'With bounds, this check counts as 1 within them and as 0 outside.',
    },
  },
} as const;

const guardSchema = {
  type: 'object',
  description:
    'A labelled event that is sent through the hooks of the runtime, to test whether they flag what they should.',
  additionalProperties: false,
  required: ['hook'],
  properties: {
    hook: { type: 'string', enum: ['provider', 'tool'], description: 'The kind of hook.' },
    phase: {
      type: 'string',
      enum: ['before_call', 'after_call', 'before_execution', 'after_execution'],
      description: 'The phase. Default: the first of the hook.',
    },
    only: { type: 'string', minLength: 1, description: 'Run only this hook, not the whole chain.' },
    request: expressionOr(
      'object',
      {},
      'The request of the native payload. Members that are left out are empty.',
    ),
    response: expressionOr('object', {}, 'The response of the native payload, for the phases that have one.'),
  },
} as const;

export const evalKeys = {
  if: {
    type: 'string',
    [as]: 'condition',
    [read]: expressionAt,
    description: 'Whether this eval judges the case: an expression over `case`.',
  },
  label: {
    type: 'string',
    [read]: expressionAt,
    description:
      'Whether a person says that the case should pass, as an expression over `case`: true or false, pass or fail, yes or no, good or bad, 1 or 0; nothing if nobody rated it. The report shows how far the eval agrees.',
  },
  threshold: { ...thresholdSchema, ...mapping },
  role: {
    type: 'string',
    enum: ['assertion', 'guardrail', 'metric'],
    description: 'assertion (default) and guardrail must pass. metric (default of a guard) is only recorded.',
  },
  weight: usually(1, {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'The weight of the score in the score of the case.',
  }),
  reducer: {
    type: 'string',
    [read]: null,
    description:
      'How the epochs of a case become one score: mean, median, mode, max, pass@K or at_least_K. Default: that of the suite.',
  },
} as const;

const evalSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  ...oneKind(['type', 'not', 'any_of', 'all_of', 'guard']),
  properties: {
    id: { type: 'string', minLength: 1, description: 'The id of the eval in the report and in gates.' },
    ...checkMembers,
    ...combinations,
    guard: guardSchema,
    expected: expressionOr('boolean', {}, 'Of a guard: whether the event should be flagged.'),
    ...evalKeys,
  },
} as const;

export const gateSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['metric'],
  anyOf: [{ required: ['min'] }, { required: ['max'] }, { required: ['better_than'] }],
  properties: {
    eval: {
      type: 'string',
      minLength: 1,
      description: 'The id of an eval of this suite. Without it, the gate applies to whole cases.',
    },
    metric: {
      type: 'string',
      [usual]: 'pass_rate',
      description:
        'mean, median, p10, stderr: of the scores. pass_rate: of all results, including unscored ones. unscored, faults, flaky: shares of results without a score, without one because of a fault, and of cases whose epochs disagree. pass@K, pass^K: over epochs. precision, recall, f1, f2, accuracy, auc: of guards. p50_ms, p99_ms: milliseconds of one call of the eval. queue_p50_ms, queue_p99_ms: milliseconds that it waited for a slot before. cost_usd, input_tokens, output_tokens, answer_p50_ms, answer_p95_ms, answer_p99_ms, answer_queue_p95_ms: of all answers of the run.',
    },
    tag: { type: 'string', minLength: 1, description: 'Only the cases with this tag.' },
    variants: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', minLength: 1 },
      description:
        'Of a matrix: the variants that the gate applies to. Default: all of them, except the one in `better_than`.',
    },
    better_than: {
      type: 'string',
      minLength: 1,
      description:
        'Of a matrix, instead of bounds: the mean or the pass_rate must be significantly higher than that of this variant, by a paired test over the same cases (p < 0.05).',
    },
    min: { type: 'number', minimum: 0, description: 'The lowest value that passes.' },
    max: { type: 'number', minimum: 0, description: 'The highest value that passes.' },
  },
} as const;

export const datasetSchema = {
  type: 'object',
  description: 'Rows in other files.',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      type: 'string',
      minLength: 1,
      description:
        'A file or a glob pattern, relative to this file, or an address, such as https://… and s3://BUCKET/KEY; `-` for stdin.',
    },
    format: {
      type: 'string',
      enum: ['jsonl', 'json', 'csv', 'tsv', 'yaml'],
      description: 'The format of the rows. Default: by the extension of the file; JSON Lines on stdin.',
    },
  },
} as const;

export const repeatSchema = {
  type: 'object',
  description: 'How often each case runs, and how its scores are combined.',
  additionalProperties: false,
  properties: {
    epochs: usually(1, { type: 'integer', minimum: 1, maximum: 1000, description: 'Runs of each case.' }),
    reducer: {
      type: 'string',
      [read]: null,
      description:
        'How the epochs become one score: mean (default), median, mode, max, pass@K or at_least_K.',
    },
  },
} as const;

const chat: object = chatSchema;
const { provider, system, messages } = chatSchema.properties;

const variantName = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
} as const;

/** One provider and prompt, or several; each pair is then a variant. */
const chatOrMatrix: object = {
  ...chatSchema,
  required: ['provider'],
  description:
    'A conversation with a model of the runtime, with the keys of a pipeline’s chat. The final answer is judged. With several providers or prompts, each pair of them is a variant.',
  properties: {
    ...chatSchema.properties,
    provider: {
      type: ['string', 'array'],
      minLength: 1,
      minItems: 1,
      maxItems: mostVariants,
      uniqueItems: true,
      items: provider,
      description:
        'The id of a provider of the runtime, or several ids, each of which is a variant that answers every case.',
    },
    prompts: {
      type: 'array',
      minItems: 1,
      maxItems: mostVariants,
      description: 'Variants of the prompt, each of which answers every case.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: {
            ...variantName,
            description: 'The name of the variant, after that of its provider if there are several.',
          },
          system: { ...system, description: 'The system prompt. Default: that of the chat.' },
          messages: { ...messages, description: 'The conversation. Default: that of the chat.' },
        },
      },
    },
  },
};

const tool = {
  type: 'string',
  minLength: 1,
  description: 'A tool of the runtime, called with all its hooks. Its result is judged.',
} as const;

const args = {
  type: ['object', 'string'],
  description: 'Of a tool: the arguments. Default: none.',
} as const;

const pipeline = {
  type: 'string',
  minLength: 1,
  description:
    'A Pipeline file, relative to this file, run by the runtime of the suite. Its output is judged.',
} as const;

const input = { description: 'Of a pipeline: its input. Default: `{}`.' } as const;

function exactlyOne(keys: readonly string[]) {
  return keys.map((key) => ({ type: 'object', required: [key] }));
}

const subjectSchema = {
  type: 'object',
  description:
    'Produces the text that is judged, for each case: exactly one of tool, chat, pipeline and variants. Its expressions see the row as `case`, and the number of the epoch as `epoch`. Without a subject, the row holds the recorded text.',
  additionalProperties: false,
  oneOf: exactlyOne(['tool', 'chat', 'pipeline', 'variants']),
  properties: {
    ...{ tool, args, chat: chatOrMatrix, pipeline, input },
    variants: {
      type: 'array',
      minItems: 1,
      maxItems: mostVariants,
      description: 'Several subjects of any kind, each of which answers every case.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        oneOf: exactlyOne(['tool', 'chat', 'pipeline']),
        properties: {
          name: { ...variantName, description: 'The name of the variant in reports and gates.' },
          ...{ tool, args, chat, pipeline, input },
        },
      },
    },
    cache: {
      type: 'boolean',
      description:
        'Whether an answer is cached, and reused while nothing that produced it has changed. Default: false; options of the command line override it.',
    },
  },
} as const;

export const limitKeys = {
  retries: usually(0, {
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description:
      'How often a call of a subject or an eval is retried after an infrastructure fault. A score is never retried.',
  }),
  timeout_ms: {
    type: 'integer',
    minimum: 1,
    description: 'Time limit of one run of a case in milliseconds, including subject and evals.',
  },
  max_cost: {
    type: 'object',
    description:
      'Limits on the cost of model calls, in US dollars by the pricing of their providers. A call beyond the limit is not made.',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      total: { type: 'number', minimum: 0, description: 'Of the whole run; --max-cost overrides it.' },
      case: { type: 'number', minimum: 0, description: 'Of one run of a case, including its judges.' },
    },
  },
} as const;

const specSchema = {
  type: 'object',
  description: 'What is judged, by which evals, and which results pass.',
  additionalProperties: false,
  required: ['evals'],
  oneOf: [{ required: ['dataset'] }, { required: ['cases'] }],
  properties: {
    runtime: {
      type: 'string',
      minLength: 1,
      description: 'The RuntimeConfig that declares the evals, relative to this file.',
    },
    dataset: datasetSchema,
    cases: { type: 'array', minItems: 1, items: { type: 'object' }, description: 'Rows in this file.' },
    case: caseSchema,
    subject: subjectSchema,
    evals: { type: 'array', minItems: 1, items: evalSchema, description: 'The evals that judge each case.' },
    gates: {
      type: 'array',
      items: gateSchema,
      description: 'When the suite passes. Without gates: when every case passes.',
    },
    repeat: repeatSchema,
    ...limitKeys,
  },
} as const;

/** The JSON Schema (2020-12) of an EvalSuite. */
export const suiteSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://signalbox.dev/schema/suite.schema.json',
  title: 'Signalbox EvalSuite',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind', 'spec'],
  properties: {
    $schema: { type: 'string', description: 'The schema that editors use for this file.' },
    apiVersion: { type: 'string', const: 'signalbox/v1', description: 'Always signalbox/v1.' },
    kind: { type: 'string', const: 'EvalSuite', description: 'Always EvalSuite.' },
    metadata: {
      type: 'object',
      description: 'The name of this file, and notes about it.',
      additionalProperties: false,
      properties: {
        name: {
          type: 'string',
          minLength: 1,
          description: 'Name of the suite in reports. Default: the name of the file.',
        },
        namespace: { type: 'string', description: 'A group of suites. Stored, but not used.' },
        labels: { type: 'object', description: 'Labels to sort suites by. Stored, but not used.' },
        annotations: { type: 'object', description: 'Notes. Stored, but not used.' },
      },
    },
    spec: specSchema,
  },
  $defs: { check: checkSchema },
} as const;
