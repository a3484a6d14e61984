/** `spec.gates[]`. */
export const gateSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['metric'],
  anyOf: [{ required: ['min'] }, { required: ['max'] }, { required: ['better_than'] }],
  properties: {
    eval: {
      type: 'string',
      minLength: 1,
      description: 'The id of an eval of this suite. Without it the gate is over the cases as wholes.',
    },
    metric: {
      type: 'string',
      description:
        'mean, median, p10, stderr: of the scores. pass_rate: of all results, unscored ones included. unscored, faults, flaky: shares of results without a score, without one because of a fault, and of cases whose epochs disagree. pass@K, pass^K: over epochs. precision, recall, f1, f2, accuracy, auc: of guards. p50_ms, p99_ms: milliseconds of one ask. queue_p50_ms, queue_p99_ms: those that it waited for a slot before. cost_usd, input_tokens, output_tokens, answer_p50_ms, answer_p95_ms, answer_p99_ms, answer_queue_p95_ms: of all answers of the run.',
    },
    tag: { type: 'string', minLength: 1, description: 'Only the cases of this tag.' },
    variants: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', minLength: 1 },
      description:
        'Of a matrix: the variants that it holds for. Default: each of them, but for that of `better_than`.',
    },
    better_than: {
      type: 'string',
      minLength: 1,
      description:
        'Of a matrix, in place of bounds: the mean or the pass_rate is significantly higher than that of this variant, by a paired test over the same cases (p < 0.05).',
    },
    min: { type: 'number', minimum: 0, description: 'The lowest value that passes.' },
    max: { type: 'number', minimum: 0, description: 'The highest value that passes.' },
  },
} as const;
