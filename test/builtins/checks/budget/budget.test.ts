import { expect, test } from 'vitest';
import { Json } from '../../../../src/base/json/json.ts';
import { findParamProblems } from '../../../../src/builtins/checks/params.ts';
import { ask } from '../asking.ts';

const latency = (max_ms: number, latency_ms: unknown) =>
  ['latency_budget', { max_ms }, { latency_ms }] as const;
const used = { cost_usd: 0.02, input_tokens: 300, output_tokens: 100 };

test.each([
  [...latency(1000, 999), [1, '999 ms of 1000 ms', '{"latency_ms":999,"budget_ms":1000}']],
  [...latency(1000, 1000), [1, '1000 ms of 1000 ms', '{"latency_ms":1000,"budget_ms":1000}']],
  [...latency(1000, 4000), [0.25, '4000 ms of 1000 ms', '{"latency_ms":4000,"budget_ms":1000}']],
  [...latency(1000, 0), [1, '0 ms of 1000 ms', '{"latency_ms":0,"budget_ms":1000}']],
  [...latency(0, 0), [1, '0 ms of 0 ms', '{"latency_ms":0,"budget_ms":0}']],
  [...latency(0, 5), [0, '5 ms of 0 ms', '{"latency_ms":5,"budget_ms":0}']],
  [...latency(10, new Json('20')), [0.5, '20 ms of 10 ms', '{"latency_ms":20,"budget_ms":10}']],
  [...latency(10, JSON.rawJSON('20.0')), [0.5, '20 ms of 10 ms', '{"latency_ms":20,"budget_ms":10}']],
  [
    'cost_budget',
    { max_cost_usd: 0.01, max_input_tokens: 300, max_output_tokens: 80, max_total_tokens: 100 },
    used,
    [
      0.25,
      '0.02 of 0.01 USD, 300 of 300 input tokens, 100 of 80 output tokens, 400 of 100 tokens',
      '{"max_cost_usd":{"limit":0.01,"used":0.02,"score":0.5},"max_input_tokens":{"limit":300,"used":300,"score":1},' +
        '"max_output_tokens":{"limit":80,"used":100,"score":0.8},"max_total_tokens":{"limit":100,"used":400,"score":0.25}}',
    ],
  ],
  [
    'cost_budget',
    { max_cost_usd: 1 },
    { total_cost: 2 },
    [0.5, '2 of 1 USD', '{"max_cost_usd":{"limit":1,"used":2,"score":0.5}}'],
  ],
  [
    'cost_budget',
    { max_total_tokens: 10 },
    { total_tokens: 20, input_tokens: 1, output_tokens: 1 },
    [0.5, '20 of 10 tokens', '{"max_total_tokens":{"limit":10,"used":20,"score":0.5}}'],
  ],
  [
    'cost_budget',
    { max_cost_usd: 0 },
    { cost_usd: 0 },
    [1, '0 of 0 USD', '{"max_cost_usd":{"limit":0,"used":0,"score":1}}'],
  ],
  [
    'cost_budget',
    { max_output_tokens: 0 },
    { output_tokens: 1 },
    [0, '1 of 0 output tokens', '{"max_output_tokens":{"limit":0,"used":1,"score":0}}'],
  ],
] as const)('%s with %j of %j [PK-10-07]', async (type, params, metadata, [score, detail, data]) => {
  const outcome = await ask(type, { params, context: { metadata } });
  expect(outcome).toEqual({ status: 'scored', score, detail, data: new Json(data) });
});

test.each([
  ['latency_budget', { max_ms: 10 }, {}, 'metadata.latency_ms is missing'],
  ['latency_budget', { max_ms: 10 }, { latency_ms: null }, 'metadata.latency_ms is missing'],
  ...['5', -1, Number.NaN, Number.POSITIVE_INFINITY, true, [5], new Json('"5"'), JSON.rawJSON('1e999')].map(
    (latency_ms) =>
      [
        'latency_budget',
        { max_ms: 10 },
        { latency_ms },
        'metadata.latency_ms is not a number of at least 0',
      ] as const,
  ),
  ['cost_budget', { max_cost_usd: 1 }, {}, 'metadata.cost_usd or metadata.total_cost is missing'],
  // Over one limit; the usage for the other is unknown.
  [
    'cost_budget',
    { max_input_tokens: 1, max_output_tokens: 1 },
    { input_tokens: 9 },
    'metadata.output_tokens is missing',
  ],
  [
    'cost_budget',
    { max_total_tokens: 1 },
    { input_tokens: 9 },
    'metadata.total_tokens is missing; metadata.output_tokens is missing',
  ],
  [
    'cost_budget',
    { max_total_tokens: 1 },
    { total_tokens: '9' },
    'metadata.total_tokens is not a number of at least 0',
  ],
] as const)('%s with %j of %o is unscored [PK-10-09]', async (type, params, metadata, reason) => {
  expect(await ask(type, { params, context: { metadata } })).toEqual({ status: 'unscored', reason });
});

test.each([
  ['latency_budget', {}, 'is required'],
  ['latency_budget', { max_ms: -1 }, 'must be at least 0 (got: -1)'],
  ['latency_budget', { max_ms: '5' }, 'must be a number, not the string "5"'],
  ['cost_budget', {}, 'needs one of: max_cost_usd, max_input_tokens, max_output_tokens, max_total_tokens'],
])('%s refuses %j', (type, params, message) => {
  expect(findParamProblems(type, params).map((problem) => problem.message)).toEqual([message]);
});
