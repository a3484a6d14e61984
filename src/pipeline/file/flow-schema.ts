import { durationPattern } from '../../config/duration.ts';
import { longestMs } from '../../time/longest-timer.ts';

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

export const forEachSchema = {
  type: ['string', 'array', 'object'],
  description:
    'Runs the step once for each item of a list, which its expressions see as `item`, and its position as `index`. A list, a `${…}` that gives one, or a mapping of items and concurrency.',
  additionalProperties: false,
  required: ['items'],
  properties: {
    items: { type: ['array', 'string'], description: 'A list, or a `${…}` that gives one.' },
    concurrency: { ...count, description: 'Items at once. Default: 1, in their order.' },
  },
} as const;

export const retrySchema = {
  type: 'object',
  description:
    'Of a tool, eval or chat step: begins it again after it has failed, never after a hook or a person said no.',
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
