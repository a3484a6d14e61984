import { longestMs } from '../../base/time/longest-timer.ts';
import { durationPattern } from '../../config/duration.ts';

const count = { type: 'integer', minimum: 1 } as const;

/** What expressions can name; `__proto__` is no name for a member of an object. */
export const identifier = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$';

/** Of `spec`: what its expressions see by name. */
export const nameSchemas = {
  env: {
    type: 'array',
    uniqueItems: true,
    items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    description:
      'Environment variables that expressions may read as `env.NAME`; all of them must be set. What they hold is secret.',
  },
  vars: {
    type: 'object',
    propertyNames: { type: 'string', pattern: identifier },
    description:
      'Values by name, computed before the first step, which expressions see as `vars.NAME`; each may use those above it, `input`, `run` and `env`.',
  },
} as const;

const collectSchema = {
  type: 'string',
  enum: ['all', 'last', 'none'],
} as const;

/** Of a step: the first failure ends the others. */
export const failFastSchema = {
  type: 'boolean',
  description:
    'Of a parallel step: the first branch that fails ends the others, which are cut off. Default: false.',
} as const;

export const askSchema = {
  type: 'object',
  description: 'Makes the step a question to a person, for whose answer the run waits.',
  additionalProperties: false,
  required: ['question'],
  properties: {
    question: { type: 'string', minLength: 1, description: 'What the person is asked; may hold `${…}`.' },
    schema: {
      type: ['object', 'boolean'],
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) that an answer must fit. Default: any value.',
    },
    by: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', minLength: 1 },
      description: 'Who may answer, as `--by` names them. Default: whoever has a name.',
    },
    expires: {
      type: 'string',
      pattern: durationPattern,
      description: 'How long an answer may take, such as 24h; then the step fails. Default: for ever.',
    },
  },
} as const;

export const waitSchema = {
  type: ['string', 'object'],
  pattern: `${durationPattern}|\\$\\{`,
  description:
    'Makes the step a wait: a duration such as 10m or 36h, a `${…}` that gives one or milliseconds, or `{until: TIME}`.',
  additionalProperties: false,
  required: ['until'],
  properties: {
    until: {
      type: 'string',
      description: 'A time by RFC 3339, such as 2027-01-31T08:00:00Z, or a `${…}` that gives one.',
    },
  },
} as const;

export const whileSchema = {
  type: 'object',
  description:
    'Runs the step again and again while a condition holds; its expressions see `index`, and as `last` the view of the run before, or null.',
  additionalProperties: false,
  required: ['condition', 'max'],
  properties: {
    condition: { type: 'string', description: 'One `${…}` that is true or false, asked before each run.' },
    max: { ...count, description: 'Runs, at most: the step fails where the condition still holds then.' },
    collect: {
      ...collectSchema,
      description:
        'Which views the step has: last (default), that of the last run as `last`; all, those of all runs as `items`; none.',
    },
  },
} as const;

export const forEachSchema = {
  type: ['string', 'array', 'object'],
  description:
    'Runs the step once for each item of a list, which its expressions see as `item`, and its position as `index`. A list, a `${…}` that gives one, or a mapping of items and concurrency.',
  additionalProperties: false,
  required: ['items'],
  properties: {
    items: { type: ['array', 'string'], description: 'A list, or a `${…}` that gives one.' },
    concurrency: { ...count, description: 'Items at once. Default: 1, in their order.' },
    collect: {
      ...collectSchema,
      description:
        'Which views the step has: all (default), those of all items as `items`; last, that of the last one as `last`; none.',
    },
    fail_fast: {
      type: 'boolean',
      description:
        'The first item that fails ends the loop, and cuts off those that are under way. Default: false.',
    },
  },
} as const;

export const retrySchema = {
  type: 'object',
  description:
    'Of a tool, eval, chat or pipeline step: begins it again after it has failed, never after a hook or a person said no.',
  additionalProperties: false,
  required: ['max'],
  properties: {
    max: { ...count, maximum: 100, description: 'Further attempts, at most.' },
    backoff: {
      type: ['string', 'object'],
      pattern: durationPattern,
      description:
        'The pause before an attempt: a duration such as 2s, or a mapping by which it grows. Default: 1 s, 2 s, 4 s, … up to a minute.',
      additionalProperties: false,
      properties: {
        initial_ms: { ...count, maximum: longestMs, description: 'The first pause. Default: 1000.' },
        factor: {
          type: 'number',
          minimum: 1,
          description: 'How much longer each further one is. Default: 2.',
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
        'Codes of the failures after which it is begun again. Default: every one that another attempt may not meet again.',
    },
  },
} as const;
