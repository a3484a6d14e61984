import { formatNumber } from '../../../base/json/decimal.ts';
import { Json } from '../../../base/json/json.ts';
import { type EvalContext, scored, unscored } from '../../../contract/eval.ts';
import type { Check, ParamSpec } from '../check.ts';
import { type Measure, readMeasure, scoreLimit } from './measures.ts';

const budgets = [
  { param: 'max_cost_usd', unit: 'USD', read: readOne('cost_usd', 'total_cost') },
  { param: 'max_input_tokens', unit: 'input tokens', read: readOne('input_tokens') },
  { param: 'max_output_tokens', unit: 'output tokens', read: readOne('output_tokens') },
  { param: 'max_total_tokens', unit: 'tokens', read: readTotal },
] as const satisfies readonly { param: string; unit: string; read: (context: EvalContext) => Measure }[];

const tokens = { type: 'integer', minimum: 0 };

const params: Readonly<Record<(typeof budgets)[number]['param'], ParamSpec>> = {
  max_cost_usd: {
    schema: { type: 'number', minimum: 0 },
    description: 'US dollars that may be spent: `cost_usd`, or PromptKit’s `total_cost`.',
  },
  max_input_tokens: { schema: tokens, description: 'Tokens that may be read: `input_tokens`.' },
  max_output_tokens: { schema: tokens, description: 'Tokens that may be written: `output_tokens`.' },
  max_total_tokens: {
    schema: tokens,
    description: 'Tokens in all: `total_tokens`, else `input_tokens` + `output_tokens`.',
  },
};

export const costBudget: Check = {
  type: 'cost_budget',
  aliases: [],
  family: 'budget',
  summary:
    'How near the answer came to its limits: the lowest of min(1, limit / used), with what was used in `context.metadata`.',
  range: '0..1',
  params,
  anyOf: [Object.keys(params)],
  example: {
    params: { max_cost_usd: 0.02, max_total_tokens: 1000 },
    context: { metadata: { cost_usd: 0.01, input_tokens: 1000, output_tokens: 250 } },
    score: 0.8,
  },
  run: ({ params: given, request }) => {
    const limited = budgets.filter(({ param }) => given[param] !== undefined);
    const uses = limited.map(({ param, unit, read }) => {
      return { param, unit, limit: Number(given[param]), measure: read(request.context) };
    });
    const missing = uses.flatMap(({ measure }) => ('missing' in measure ? [measure.missing] : []));
    if (missing.length > 0) return unscored(missing.join('; '));
    const limits = uses.flatMap(({ measure, ...use }) =>
      'value' in measure
        ? [{ ...use, used: measure.value, score: scoreLimit(measure.value, use.limit) }]
        : [],
    );
    return scored(
      Math.min(...limits.map(({ score }) => score)),
      limits.map(({ unit, limit, used }) => `${formatNumber(used, [limit])} of ${limit} ${unit}`).join(', '),
      Json.from(Object.fromEntries(limits.map(({ param, unit: _, ...use }) => [param, use]))),
    );
  },
};

function readOne(...names: readonly string[]): (context: EvalContext) => Measure {
  return (context) => readMeasure(context, names);
}

function readTotal(context: EvalContext): Measure {
  const { total_tokens: given } = context.metadata;
  if (given !== undefined && given !== null) return readMeasure(context, ['total_tokens']);
  const [input, output] = [readMeasure(context, ['input_tokens']), readMeasure(context, ['output_tokens'])];
  if ('value' in input && 'value' in output) return { value: input.value + output.value };
  const missing = [input, output].flatMap((part) => ('missing' in part ? [part.missing] : []));
  return { missing: `metadata.total_tokens is not there; ${missing.join('; ')}` };
}
