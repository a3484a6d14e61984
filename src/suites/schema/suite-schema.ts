import { datasetFormats } from '../file/model.ts';
import { subjectSchema } from '../subject/subject-schema.ts';
import { caseSchema } from './case-schema.ts';
import { checkSchema, evalSchema } from './eval-schema.ts';
import { gateSchema } from './gate-schema.ts';

const datasetSchema = {
  type: 'object',
  description: 'Rows in files of their own.',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      type: 'string',
      minLength: 1,
      description:
        'A file or a glob pattern, relative to this file, or an address, as in https://… and s3://BUCKET/KEY; `-` for stdin.',
    },
    format: {
      type: 'string',
      enum: datasetFormats,
      description: 'How the rows are written. Default: as the name of the file says; JSON Lines on stdin.',
    },
  },
} as const;

const repeatSchema = {
  type: 'object',
  description: 'How often each case is run, and what becomes of its scores.',
  additionalProperties: false,
  properties: {
    epochs: { type: 'integer', minimum: 1, maximum: 1000, description: 'Runs of each case. Default: 1.' },
    reducer: {
      type: 'string',
      description: 'How they become one score: mean (default), median, mode, max, pass@K or at_least_K.',
    },
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
    dataset: datasetSchema,
    cases: { type: 'array', minItems: 1, items: { type: 'object' }, description: 'Rows in this file.' },
    case: caseSchema,
    subject: subjectSchema,
    evals: { type: 'array', minItems: 1, items: evalSchema, description: 'What each case is judged by.' },
    gates: {
      type: 'array',
      items: gateSchema,
      description: 'When the suite passes. Without gates: when every case does.',
    },
    repeat: repeatSchema,
    retries: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description:
        'How often a subject or an eval is asked again after a fault of the infrastructure, never for a score. Default: 0.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 1,
      description: 'Milliseconds that one run of a case may take, subject and evals together.',
    },
    max_cost: {
      type: 'object',
      description:
        'What model calls may cost, in US dollars by the pricing of their providers; a call beyond it is not made.',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        total: { type: 'number', minimum: 0, description: 'Of the whole run; --max-cost has the last word.' },
        case: { type: 'number', minimum: 0, description: 'Of one run of a case, its judges included.' },
      },
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
  $defs: { check: checkSchema },
} as const;
