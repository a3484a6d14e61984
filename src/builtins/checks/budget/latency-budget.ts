import { formatNumber } from '../../../base/json/decimal.ts';
import { Json } from '../../../base/json/json.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { readMeasure, scoreLimit } from './measures.ts';

export const latencyBudget: Check = {
  type: 'latency_budget',
  aliases: [],
  family: 'budget',
  summary: 'How near the answer came to its time: min(1, `max_ms` / `context.metadata.latency_ms`).',
  range: '0..1',
  params: {
    max_ms: {
      schema: { type: 'number', minimum: 0 },
      required: true,
      description: 'Milliseconds that the answer may take.',
    },
  },
  example: { params: { max_ms: 1500 }, context: { metadata: { latency_ms: 2000 } }, score: 0.75 },
  run: ({ params, request }) => {
    const latency = readMeasure(request.context, ['latency_ms']);
    if ('missing' in latency) return unscored(latency.missing);
    const limit = Number(params['max_ms']);
    return scored(
      scoreLimit(latency.value, limit),
      `${formatNumber(latency.value, [limit])} ms of ${limit} ms`,
      Json.from({ latency_ms: latency.value, budget_ms: limit }),
    );
  },
};
