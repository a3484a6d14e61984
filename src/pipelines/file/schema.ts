import { longestMs } from '../../base/time/longest-timer.ts';
import {
  askSchema,
  failFastSchema,
  forEachSchema,
  identifier,
  nameSchemas,
  retrySchema,
  waitSchema,
  whileSchema,
} from './flow-schema.ts';

/** Settings of a chat beyond its conversation, as JSON Schemas. */
const chatOptionSchemas = {
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

/** A value, or a text with an expression that gives one. */
function textOr(type: 'object' | 'array' | 'integer', more: object, description: string): object {
  return { type: [type, 'string'], pattern: '\\$\\{', ...more, description };
}

const count = { type: 'integer', minimum: 1 } as const;
const name = { type: 'string', minLength: 1 } as const;
const score = { type: 'number', minimum: 0, maximum: 1 } as const;
const stepList = { type: 'array', minItems: 1, items: { $ref: '#/$defs/step' } } as const;

const thresholdSchema = {
  type: 'object',
  description: 'Inclusive bounds that the score must keep. With neither of them, a score of 1 passes.',
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
      messages: textOr('array', {}, 'The conversation: `{role, content}` and whatever else a message holds.'),
      turn_index: textOr('integer', { minimum: 0 }, 'Which turn is judged, from 0.'),
      tool_calls: textOr('array', {}, 'The tool calls: `{name, args, result, error, index}`.'),
      variables: textOr('object', {}, 'Variables of the prompt.'),
      metadata: textOr('object', {}, 'Whatever else the eval may want to know.'),
    },
  },
  'Of an eval step: the conversation around the text. What is left out is empty.',
);

const messageSchema = {
  type: 'object',
  required: ['role', 'content'],
  properties: {
    role: {
      type: 'string',
      enum: ['system', 'user', 'assistant', 'tool'],
      description: 'Who says it.',
    },
    content: { type: 'string', description: 'The text.' },
  },
} as const;

const guardrailSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['eval'],
  properties: {
    id: { ...name, description: 'Names the guardrail in the chat’s view. Default: the type of its eval.' },
    eval: { ...name, description: 'An eval of the runtime, given the final answer.' },
    params: textOr('object', {}, 'Parameters of the eval.'),
    context: {
      type: 'object',
      additionalProperties: false,
      description:
        'What the eval is given beside the conversation, the tool calls and the measures of the answer (tokens, cost, latency).',
      properties: {
        variables: textOr('object', {}, 'Variables of the prompt.'),
        metadata: textOr('object', {}, 'Whatever else the eval may want to know.'),
      },
    },
    threshold: thresholdSchema,
    action: {
      type: 'string',
      enum: ['enforce', 'monitor'],
      description: 'enforce (default): an answer that fails is withheld. monitor: it is only recorded.',
    },
  },
} as const;

/** A conversation with a model, as a JSON Schema. */
export const chatSchema = {
  type: 'object',
  description: 'Makes the step a conversation with a model, which may call tools until it has an answer.',
  additionalProperties: false,
  required: ['provider', 'messages'],
  properties: {
    provider: { ...name, description: 'The id of a provider of the runtime.' },
    system: { type: 'string', description: 'The system prompt.' },
    messages: {
      type: ['array', 'string'],
      minItems: 1,
      minLength: 1,
      items: messageSchema,
      description: 'The conversation, a `${…}` that gives one, or a text that is one message of the user.',
    },
    tools: {
      type: 'array',
      items: name,
      uniqueItems: true,
      description: 'Tools of the runtime that the model may call. Default: none.',
    },
    max_rounds: {
      ...count,
      description: 'Model calls for one answer, at most; a retry counts anew. Default: 8.',
    },
    tool_concurrency: { ...count, description: 'Tool calls of one round that run at once. Default: 4.' },
    guardrails: {
      type: 'array',
      items: guardrailSchema,
      description: 'Evals that the final answer must pass.',
    },
    retries: {
      type: 'integer',
      minimum: 0,
      description:
        'How often an answer that an enforcing guardrail failed is asked for again, with the eval’s detail. Default: 0.',
    },
    stream: {
      type: 'string',
      enum: ['hold', 'windowed'],
      description:
        'Asks the model for a stream. hold: text is released when the whole answer has passed its hooks. windowed: as it comes. Default: no stream.',
    },
    temperature: { type: 'number', minimum: 0, description: 'In place of the provider’s own.' },
    max_tokens: { ...count, description: 'Longest answer, in tokens; in place of the provider’s own.' },
    ...chatOptionSchemas,
  },
} as const;

const onErrorSchema = {
  type: ['string', 'object'],
  pattern: '^(stop|continue)$',
  description:
    'What follows when the step failed or was denied. stop (default): the pipeline fails. continue: the next step. A mapping: steps that run first.',
  additionalProperties: false,
  required: ['steps'],
  properties: {
    steps: { ...stepList, description: 'Run in order; they see what went wrong as `error`.' },
    // biome-ignore lint/suspicious/noThenProperty: a key of the file
    then: {
      type: 'string',
      enum: ['stop', 'continue'],
      description: 'What follows them. stop (default): the pipeline fails with the first error.',
    },
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
    id: {
      type: 'string',
      pattern: identifier,
      description: 'Names the step, once in the file; expressions see what it came to as `steps.ID`.',
    },
    if: {
      type: 'string',
      description: 'One `${…}` that is true or false. false: the step is skipped, and `else` is run.',
    },
    for_each: forEachSchema,
    while: whileSchema,
    fail_fast: failFastSchema,
    concurrency: {
      ...count,
      description:
        'With parallel: branches at once; default: all. With for_each on another step: items at once; default: 1.',
    },
    timeout_ms: {
      ...count,
      maximum: longestMs,
      description:
        'Milliseconds that one run of the step may take, without waits for a person. Default: no limit.',
    },
    retry: retrySchema,
    on_error: onErrorSchema,
    tool: { ...name, description: 'Makes the step a call of this tool of the runtime.' },
    args: textOr('object', {}, 'Of a tool step: the arguments. Default: none.'),
    eval: { ...name, description: 'Makes the step a judgement by this eval of the runtime.' },
    content: {
      type: ['string', 'number', 'boolean', 'array', 'object'],
      description: 'Of an eval step: what is judged; anything but a text as its JSON.',
    },
    params: textOr('object', {}, 'Of an eval step: parameters of the eval.'),
    context: contextSchema,
    threshold: thresholdSchema,
    on_fail: {
      type: 'string',
      enum: ['stop', 'continue'],
      description:
        'Of an eval step with a threshold: what a score outside of it means. stop (default): the step fails. continue: it is only recorded.',
    },
    chat: chatSchema,
    parallel: { ...stepList, description: 'Makes the step a set of steps that run at once.' },
    steps: { ...stepList, description: 'Makes the step a group of steps that run in order.' },
    wait: waitSchema,
    ask: askSchema,
    pipeline: {
      ...name,
      description: 'Makes the step a run of this pipeline file, relative to the one that names it.',
    },
    input: textOr('object', {}, 'Of a pipeline step: the input of its run. Default: `{}`.'),
    else: { ...stepList, description: 'Of a group with `if`: steps that run where that is false.' },
  },
} as const;

const specSchema = {
  type: 'object',
  description: 'What is done, in which order, and what comes of it.',
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
        'In order; expressions see `input`, `steps`, `run`, `env`, `vars`, and in their places `item`, `index` and `error`.',
    },
    finally: {
      ...stepList,
      description:
        'Run when the steps have ended, well or not; they see what became of these as `outcome`. A failure here does not take the place of an earlier one.',
    },
    on_fault: {
      type: 'string',
      enum: ['suspend', 'fail'],
      description:
        'What a fault of a model’s API or of a server does that would end the run and may be gone later. suspend (default): the run is set down, and goes on from there. fail: it has failed. In a store in memory it always fails.',
    },
    output: { description: 'What the run gives; may hold `${…}`. Default: the view of the last step.' },
  },
} as const;

/** Everything that a Pipeline may say, as a JSON Schema (2020-12). */
export const pipelineSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://signalbox.dev/schema/pipeline.schema.json',
  title: 'Signalbox Pipeline',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'kind', 'spec'],
  properties: {
    $schema: { type: 'string', description: 'Where an editor finds this schema.' },
    apiVersion: { type: 'string', const: 'signalbox/v1', description: 'Always signalbox/v1.' },
    kind: { type: 'string', const: 'Pipeline', description: 'Always Pipeline.' },
    metadata: {
      type: 'object',
      description: 'Who this file is.',
      additionalProperties: false,
      properties: {
        name: { ...name, description: 'Name of the pipeline. Default: that of the file.' },
        namespace: { type: 'string', description: 'A group of pipelines. Only kept.' },
        labels: { type: 'object', description: 'Free words to sort pipelines by. Only kept.' },
        annotations: { type: 'object', description: 'Free notes. Only kept.' },
      },
    },
    spec: specSchema,
  },
  $defs: { step: stepSchema },
} as const;
