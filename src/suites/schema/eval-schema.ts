import { thresholdSchema } from './case-schema.ts';
import { expressionOr } from './expression-or.ts';

const checkMembers = {
  type: {
    type: 'string',
    minLength: 1,
    description: 'An eval of the runtime, or a built-in check (docs/checks.md).',
  },
  params: expressionOr('object', {}, 'Parameters of the eval; expressions see the row as `case`.'),
  content: { type: 'string', description: 'Judged in place of the content of the case.' },
} as const;

const part = { $ref: '#/$defs/check' } as const;

const combinations = {
  not: { ...part, description: '1 minus the score of this check.' },
  any_of: { type: 'array', minItems: 1, items: part, description: 'The highest score of these checks.' },
  all_of: { type: 'array', minItems: 1, items: part, description: 'The lowest score of these checks.' },
} as const;

/** Exactly one of these says what an eval is. */
const oneKind = (kinds: readonly string[]) => ({ oneOf: kinds.map((kind) => ({ required: [kind] })) });

/** A part of a combination. */
export const checkSchema = {
  type: 'object',
  description: 'One check of a combination, or another combination.',
  additionalProperties: false,
  ...oneKind(['type', 'not', 'any_of', 'all_of']),
  properties: {
    ...checkMembers,
    ...combinations,
    threshold: {
      ...thresholdSchema,
      description: 'With bounds, this check counts as 1 within them and as 0 beyond.',
    },
  },
} as const;

const guardSchema = {
  type: 'object',
  description:
    'A labelled event that is taken through the hooks of the runtime, to see whether they flag what they should.',
  additionalProperties: false,
  required: ['hook'],
  properties: {
    hook: { type: 'string', enum: ['provider', 'tool'], description: 'The kind of hook.' },
    phase: {
      type: 'string',
      enum: ['before_call', 'after_call', 'before_execution', 'after_execution'],
      description: 'The phase. Default: the first of the hook.',
    },
    only: { type: 'string', minLength: 1, description: 'Fire this hook alone rather than the whole chain.' },
    request: expressionOr('object', {}, 'The request of the native payload; what is left out is empty.'),
    response: expressionOr('object', {}, 'The response of the native payload, for the phases that have one.'),
  },
} as const;

/** `spec.evals[]`. */
export const evalSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  ...oneKind(['type', 'not', 'any_of', 'all_of', 'guard']),
  properties: {
    id: { type: 'string', minLength: 1, description: 'Names the eval in the report and in gates.' },
    ...checkMembers,
    ...combinations,
    guard: guardSchema,
    expected: expressionOr('boolean', {}, 'Of a guard: whether the event should be flagged.'),
    if: { type: 'string', description: 'Whether this eval judges the case: an expression over `case`.' },
    label: {
      type: 'string',
      description:
        'Whether a person said that the case should pass, an expression over `case`: true or false, pass or fail, yes or no, good or bad, 1 or 0; nothing where nobody did. The report tells how far the eval agrees.',
    },
    threshold: thresholdSchema,
    role: {
      type: 'string',
      enum: ['assertion', 'guardrail', 'metric'],
      description: 'assertion (default), guardrail: must pass. metric (default of a guard): only recorded.',
    },
    weight: {
      type: 'number',
      exclusiveMinimum: 0,
      description: 'How much the score counts in that of the case. Default: 1.',
    },
    reducer: {
      type: 'string',
      description:
        'How the epochs of a case become one score: mean, median, mode, max, pass@K or at_least_K. Default: that of the suite.',
    },
  },
} as const;
