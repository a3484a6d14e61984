import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import { longestMs } from '../../base/time/async.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt } from '../../base/yaml/expressions.ts';
import { as, type Fields, read, readFields, usual, usually } from '../../base/yaml/fields.ts';
import { choiceAt, integerAt, numberAt, schemaAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { duration, durationPattern } from '../../config/duration.ts';
import type { Threshold } from '../../contract/eval.ts';
import { readRetry } from './retry.ts';

function textOr(type: 'object' | 'array' | 'integer', more: object, description: string): object {
  return { type: [type, 'string'], pattern: '\\$\\{', ...more, description };
}

const text = { [read]: expressionAt, [usual]: compileExpressions('', []) } as const;
const mapping = { [read]: expressionAt, [usual]: compileExpressions({}, []) } as const;

const count = { type: 'integer', minimum: 1 } as const;
const name = { type: 'string', minLength: 1, [usual]: '' } as const;
const score = { type: 'number', minimum: 0, maximum: 1 } as const;
const stepList = { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } } as const;

/** The names that expressions can use. `__proto__` is excluded, since it is not an ordinary member. */
const identifier = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$';

const nameSchemas = {
  env: {
    type: 'array',
    uniqueItems: true,
    items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    description:
      'Environment variables that expressions may read as `env.NAME`. All of them must be set. Their values are secret.',
  },
  vars: {
    type: 'object',
    propertyNames: { type: 'string', pattern: identifier },
    description:
      'Values by name, computed before the first step, which expressions see as `vars.NAME`. Each may use the ones above it, `input`, `run` and `env`.',
  },
} as const;

const collectSchema = {
  type: 'string',
  enum: ['all', 'last', 'none'],
} as const;

const failFastSchema = usually(false, {
  type: 'boolean',
  description: 'Of a parallel step: the first branch that fails cancels the others.',
});

export const askSchema = {
  type: 'object',
  description: 'Makes the step a question to a person, for whose answer the run waits.',
  additionalProperties: false,
  required: ['question'],
  properties: {
    question: {
      type: 'string',
      minLength: 1,
      ...text,
      description: 'The question for the person; may hold `${…}`.',
    },
    schema: {
      type: ['object', 'boolean'],
      [read]: readSchema,
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) that an answer must fit. Default: any value.',
    },
    by: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, [usual]: '' },
      description: 'Who may answer: the names that `--by` accepts. Default: anyone with a name.',
    },
    expires: {
      ...duration,
      [as]: 'expiresMs',
      description: 'How long an answer may take, such as 24h; then the step fails. Default: no limit.',
    },
  },
} as const;

const waitSchema = {
  type: ['string', 'object'],
  pattern: `${durationPattern}|\\$\\{`,
  description:
    'Makes the step a wait: a duration such as 10m or 36h, a `${…}` that gives one or milliseconds, or `{until: TIME}`.',
  additionalProperties: false,
  required: ['until'],
  properties: {
    until: {
      type: 'string',
      description: 'A time in RFC 3339, such as 2027-01-31T08:00:00Z, or a `${…}` that gives one.',
    },
  },
} as const;

const whileSchema = {
  type: 'object',
  [as]: 'whileLoop',
  description:
    'Repeats the step while a condition holds. Its expressions see `index`, and as `last` the view of the previous run, or null.',
  additionalProperties: false,
  required: ['condition', 'max'],
  properties: {
    condition: {
      type: 'string',
      ...text,
      description: 'One `${…}` that is true or false, evaluated before each run.',
    },
    max: {
      ...count,
      [usual]: 1,
      description: 'The maximum number of runs. The step fails if the condition still holds after them.',
    },
    collect: {
      ...collectSchema,
      [usual]: 'last',
      description:
        'Which views the step has: last (default), that of the last run as `last`; all, those of all runs as `items`; none.',
    },
  },
} as const;

const loopKeys = {
  items: { type: ['array', 'string'], ...text, description: 'A list, or a `${…}` that gives one.' },
  concurrency: { ...count, description: 'How many items run at once. Default: 1, in order.' },
  collect: {
    ...collectSchema,
    [usual]: 'all',
    description:
      'Which views the step has: all (default), those of all items as `items`; last, that of the last one as `last`; none.',
  },
  fail_fast: usually(false, {
    type: 'boolean',
    description: 'The first item that fails ends the loop, and cancels the items that are running.',
  }),
} as const;

const forEachSchema = {
  type: ['string', 'array', 'object'],
  [read]: readForEach,
  description:
    'Runs the step once for each item of a list, which its expressions see as `item`, and its position as `index`. A list, a `${…}` that gives one, or a mapping of items and concurrency.',
  additionalProperties: false,
  required: ['items'],
  properties: loopKeys,
} as const;

const retrySchema = {
  type: 'object',
  [read]: readRetry,
  description:
    'Of a tool, eval, chat or pipeline step: starts it again after a failure, but never after a hook or a person denied it.',
  additionalProperties: false,
  required: ['max'],
  properties: {
    max: { ...count, maximum: 100, description: 'The maximum number of further attempts.' },
    backoff: {
      type: ['string', 'object'],
      pattern: durationPattern,
      description:
        'The pause before an attempt: a duration such as 2s, or a mapping that makes it grow. Default: 1 s, 2 s, 4 s, … up to a minute.',
      additionalProperties: false,
      properties: {
        initial_ms: { ...count, maximum: longestMs, description: 'The first pause. Default: 1000.' },
        factor: {
          type: 'number',
          minimum: 1,
          description: 'The factor by which each pause grows. Default: 2.',
        },
        max_ms: { ...count, maximum: longestMs, description: 'The longest pause. Default: 60000.' },
      },
    },
    on: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string' },
      description:
        'Codes of the failures that are retried. Default: every code that another attempt may avoid.',
    },
  },
} as const;

const chatOptionSchemas = {
  output: {
    type: 'object',
    [as]: 'outputSchema',
    [read]: readOutputSchema,
    description:
      'Requests an answer in JSON: it must fit the schema, and expressions see it as `steps.ID.object`.',
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
    [read]: readToolChoice,
    pattern: '^(auto|none|required)$',
    description:
      'Whether the model calls tools. auto (default): the model decides. none: it may not. required, or a mapping with one of the tools: it must, until tools have been called once; then auto.',
    additionalProperties: false,
    required: ['tool'],
    properties: { tool: { type: 'string', minLength: 1, description: 'The tool that the model must call.' } },
  },
  top_p: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Share of the likeliest words to choose from (top-p); overrides that of the provider.',
  },
  stop: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    description: 'Texts at which the model ends its answer. The answer does not include them.',
  },
  seed: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The same seed requests the same answer, if the provider supports seeds.',
  },
} as const;

const thresholdSchema = {
  type: 'object',
  [read]: readThreshold,
  description: 'Inclusive bounds that the score must meet. Without any, a score of 1 passes.',
  additionalProperties: false,
  properties: {
    min_score: { ...score, description: 'The lowest score that passes.' },
    max_score: { ...score, description: 'The highest score that passes.' },
  },
} as const;

const contextSchema = textOr(
  'object',
  {
    additionalProperties: false,
    properties: {
      messages: textOr(
        'array',
        {},
        'The conversation: messages with `role`, `content` and any other members.',
      ),
      turn_index: textOr('integer', { minimum: 0 }, 'The turn to judge, counted from 0.'),
      tool_calls: textOr('array', {}, 'The tool calls: `{name, args, result, error, index}`.'),
      variables: textOr('object', {}, 'Variables of the prompt.'),
      metadata: textOr('object', {}, 'Any other data that the eval needs.'),
    },
  },
  'Of an eval step: the conversation around the text. Members that are left out are empty.',
);

const messageSchema = {
  type: 'object',
  required: ['role', 'content'],
  properties: {
    role: {
      type: 'string',
      enum: ['system', 'user', 'assistant', 'tool'],
      description: 'The role of the author.',
    },
    content: { type: 'string', description: 'The text.' },
  },
} as const;

const guardrailSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['eval'],
  properties: {
    id: {
      ...name,
      [read]: readGuardrailId,
      description: 'The name of the guardrail in the view of the chat. Default: the type of its eval.',
    },
    eval: { ...name, [as]: 'type', description: 'An eval of the runtime, which receives the final answer.' },
    params: { ...textOr('object', {}, 'Parameters of the eval.'), ...mapping },
    context: {
      type: 'object',
      additionalProperties: false,
      ...mapping,
      description:
        'What the eval receives in addition to the conversation, the tool calls and the measures of the answer (tokens, cost, latency).',
      properties: {
        variables: textOr('object', {}, 'Variables of the prompt.'),
        metadata: textOr('object', {}, 'Any other data that the eval needs.'),
      },
    },
    threshold: thresholdSchema,
    action: {
      type: 'string',
      enum: ['enforce', 'monitor'],
      [usual]: 'enforce',
      description:
        'enforce (default): an answer that fails is withheld. monitor: the result is only recorded.',
    },
  },
} as const;

export const chatSchema = {
  type: 'object',
  description: 'Makes the step a conversation with a model, which may call tools until it has an answer.',
  additionalProperties: false,
  required: ['provider', 'messages'],
  properties: {
    provider: { ...name, description: 'The id of a provider of the runtime.' },
    system: { type: 'string', [read]: expressionAt, description: 'The system prompt.' },
    messages: {
      type: ['array', 'string'],
      [read]: expressionAt,
      [usual]: compileExpressions([], []),
      minItems: 1,
      minLength: 1,
      items: messageSchema,
      description: 'The conversation, a `${…}` that gives one, or text that is one user message.',
    },
    tools: {
      type: 'array',
      items: name,
      uniqueItems: true,
      [usual]: [],
      description: 'Tools of the runtime that the model may call. Default: none.',
    },
    max_rounds: usually(8, {
      ...count,
      description: 'The maximum number of model calls for one answer; a retry starts a new count.',
    }),
    tool_concurrency: usually(4, { ...count, description: 'Tool calls of one round that run at once.' }),
    guardrails: {
      type: 'array',
      items: guardrailSchema,
      [usual]: [],
      description: 'Evals that the final answer must pass.',
    },
    retries: usually(0, {
      type: 'integer',
      minimum: 0,
      description:
        'How often the model is asked for another answer, with the detail of the eval, after an enforcing guardrail failed.',
    }),
    stream: {
      type: 'string',
      enum: ['hold', 'windowed'],
      description:
        'Requests a stream from the model. hold: text is released when the whole answer has passed its hooks. windowed: text is released as it arrives. Default: no stream.',
    },
    temperature: { type: 'number', minimum: 0, description: 'Overrides the temperature of the provider.' },
    max_tokens: { ...count, description: 'The longest answer, in tokens; overrides that of the provider.' },
    ...chatOptionSchemas,
  },
} as const;

export type Chat = Fields<typeof chatSchema.properties>;

export function readChat(document: YamlDocument, path: Path, variables: readonly string[]): Chat {
  return readFields(document, path, chatSchema.properties, variables);
}

const onErrorSchema = {
  type: ['string', 'object'],
  pattern: '^(stop|continue)$',
  description:
    'What happens if the step failed or was denied. stop (default): the pipeline fails. continue: the next step runs. A mapping: steps that run first.',
  additionalProperties: false,
  required: ['steps'],
  properties: {
    steps: { ...stepList, description: 'Run in order; they see the error as `error`.' },
    // biome-ignore lint/suspicious/noThenProperty: a key of the file
    then: {
      type: 'string',
      enum: ['stop', 'continue'],
      description: 'What happens after these steps. stop (default): the pipeline fails with the first error.',
    },
  },
} as const;

const headKeys = {
  id: {
    type: 'string',
    pattern: identifier,
    [usual]: '',
    description: 'The id of the step, unique in the file; expressions see its result as `steps.ID`.',
  },
  if: {
    type: 'string',
    [as]: 'condition',
    [read]: expressionAt,
    description: 'One `${…}` that is true or false. If false, the step is skipped, and `else` runs.',
  },
  for_each: forEachSchema,
  while: whileSchema,
} as const;

const effortKeys = {
  timeout_ms: {
    ...count,
    maximum: longestMs,
    description:
      'Time limit of one run of the step in milliseconds, without waits for a person. Default: no limit.',
  },
  retry: retrySchema,
} as const;

export const stepKeys = { ...headKeys, ...effortKeys } as const;

export const toolKeys = {
  tool: { ...name, description: 'Makes the step a call of this tool of the runtime.' },
  args: { ...textOr('object', {}, 'Of a tool step: the arguments. Default: none.'), ...mapping },
} as const;

export const evalKeys = {
  eval: { ...name, [as]: 'type', description: 'Makes the step a judgement by this eval of the runtime.' },
  content: {
    type: ['string', 'number', 'boolean', 'array', 'object'],
    ...text,
    description: 'Of an eval step: what is judged. Anything but text is judged as JSON.',
  },
  params: { ...textOr('object', {}, 'Of an eval step: parameters of the eval.'), ...mapping },
  context: { ...contextSchema, [read]: expressionAt },
  threshold: thresholdSchema,
  on_fail: {
    type: 'string',
    enum: ['stop', 'continue'],
    [usual]: 'stop',
    description:
      'Of an eval step with a threshold: what happens if the score is outside of it. stop (default): the step fails. continue: the result is only recorded.',
  },
} as const;

const stepSchema = {
  type: 'object',
  description:
    'One step: exactly one of tool, eval, chat, parallel, steps, wait, ask and pipeline says what it does.',
  additionalProperties: false,
  required: ['id'],
  oneOf: ['tool', 'eval', 'chat', 'parallel', 'steps', 'wait', 'ask', 'pipeline'].map((key) => ({
    type: 'object',
    required: [key],
  })),
  properties: {
    ...headKeys,
    fail_fast: failFastSchema,
    concurrency: {
      ...count,
      description:
        'With parallel: how many branches run at once; default: all. With for_each on another step: how many items run at once; default: 1.',
    },
    ...effortKeys,
    on_error: onErrorSchema,
    ...toolKeys,
    ...evalKeys,
    chat: chatSchema,
    parallel: { ...stepList, description: 'Makes the step a set of steps that run at once.' },
    steps: { ...stepList, description: 'Makes the step a group of steps that run in order.' },
    wait: waitSchema,
    ask: askSchema,
    pipeline: {
      ...name,
      description: 'Makes the step a run of this pipeline file, relative to the file that names it.',
    },
    input: textOr('object', {}, 'Of a pipeline step: the input of its run. Default: `{}`.'),
    else: { ...stepList, description: 'Of a group with `if`: steps that run if the condition is false.' },
  },
} as const;

const specSchema = {
  type: 'object',
  description: 'The steps, their order, and the result.',
  additionalProperties: false,
  required: ['steps'],
  properties: {
    runtime: {
      ...name,
      description: 'The RuntimeConfig that declares the tools, evals and providers, relative to this file.',
    },
    input: {
      type: ['object', 'boolean'],
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) of the input, checked before anything runs.',
    },
    ...nameSchemas,
    steps: {
      ...stepList,
      description:
        'Run in order. Expressions see `input`, `steps`, `run`, `env`, `vars`, and in some places `item`, `index` and `error`.',
    },
    finally: {
      ...stepList,
      description:
        'Run after the steps have ended, whether they failed or not; they see the outcome as `outcome`. A failure here does not replace an earlier one.',
    },
    on_fault: {
      type: 'string',
      enum: ['suspend', 'fail'],
      description:
        'What happens after a temporary fault of a model’s API or of a server that would end the run. suspend (default): the run is suspended, and can be resumed from there. fail: the run fails. With a store in memory, it always fails.',
    },
    output: { description: 'The result of the run; may hold `${…}`. Default: the view of the last step.' },
  },
} as const;

/** The JSON Schema (2020-12) of a Pipeline. */
export const pipelineSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://signalbox.dev/schema/pipeline.schema.json',
  title: 'Signalbox Pipeline',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind', 'spec'],
  properties: {
    $schema: { type: 'string', description: 'The schema that editors use for this file.' },
    apiVersion: { type: 'string', const: 'signalbox/v1', description: 'Always signalbox/v1.' },
    kind: { type: 'string', const: 'Pipeline', description: 'Always Pipeline.' },
    metadata: {
      type: 'object',
      description: 'The name of this file, and notes about it.',
      additionalProperties: false,
      properties: {
        name: { ...name, description: 'Name of the pipeline. Default: the name of the file.' },
        namespace: { type: 'string', description: 'A group of pipelines. Stored, but not used.' },
        labels: { type: 'object', description: 'Labels to sort pipelines by. Stored, but not used.' },
        annotations: { type: 'object', description: 'Notes. Stored, but not used.' },
      },
    },
    spec: specSchema,
  },
  $defs: { step: stepSchema },
} as const;

function readForEach(
  document: YamlDocument,
  path: Path,
  variables: readonly string[],
): (Fields<typeof loopKeys> & { readonly concurrency: number }) | undefined {
  const step = path.slice(0, -1);
  const { items: own, concurrency, ...loop } = readFields(document, path, loopKeys, variables);
  const items = isObject(valueAt(document, path)) ? own : expressionAt(document, path, variables);
  if (items === undefined) return undefined;
  const isParallel = valueAt(document, [...step, 'parallel']) !== undefined;
  const short = isParallel ? undefined : integerAt(document, [...step, 'concurrency']);
  return { items, concurrency: concurrency ?? short ?? 1, ...loop };
}

function readSchema(
  document: YamlDocument,
  path: Path,
): Readonly<Record<string, unknown>> | boolean | undefined {
  const schema = valueAt(document, path);
  return isObject(schema) || typeof schema === 'boolean' ? schema : undefined;
}

function readToolChoice(document: YamlDocument, path: Path) {
  const tool = textAt(document, [...path, 'tool']);
  return tool === undefined ? choiceAt(document, path, ['auto', 'none', 'required']) : { tool };
}

function readOutputSchema(document: YamlDocument, path: Path): Readonly<Record<string, unknown>> | undefined {
  const schema = schemaAt(document, [...path, 'schema']);
  return isObject(schema) ? schema : undefined;
}

function readGuardrailId(document: YamlDocument, path: Path): string | undefined {
  return guardrailIdAt(document, path.slice(0, -1));
}

/** A guardrail without an id is named after its eval type. */
export function guardrailIdAt(document: YamlDocument, path: Path): string | undefined {
  return textAt(document, [...path, 'id']) ?? textAt(document, [...path, 'eval']);
}

function readThreshold(document: YamlDocument, path: Path): Threshold | undefined {
  if (!isObject(valueAt(document, path))) return undefined;
  return omitUndefined({
    min_score: numberAt(document, [...path, 'min_score']),
    max_score: numberAt(document, [...path, 'max_score']),
  });
}
