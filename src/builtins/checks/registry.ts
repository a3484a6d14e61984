import { formatNumber } from '../../base/json/decimal.ts';
import { isSameByValue } from '../../base/json/equal.ts';
import { Json } from '../../base/json/json.ts';
import { type EvalContext, type EvalOutcome, scored, unscored } from '../../contract/eval.ts';
import { runBounded } from './bounded/run-bounded.ts';
import type { Check, CheckInput, ParamSpec, Params } from './check.ts';
import { embeddingChecks } from './embedding/embedding-checks.ts';
import { codeSchema, detectLanguages, ifeval, languageOf, ruleChecks } from './instructions/ifeval.ts';
import { findContentJson, jsonLocationParams } from './json/json-location-params.ts';
import { findExpressionProblem } from './json/json-search.ts';
import { findSchemaProblem } from './json/schema-comparison.ts';
import { judgeChecks } from './judge/judge-checks.ts';
import { referenceChecks } from './reference/reference-checks.ts';
import { textChecks } from './text/text-checks.ts';
import { toolChecks } from './tools/tool-checks.ts';

const jsonPath: Check = {
  type: 'json_path',
  aliases: [],
  family: 'json',
  summary:
    'Whether the result of a JMESPath expression on the content meets every condition; without conditions, whether it is not null.',
  range: '0 or 1',
  params: {
    expression: {
      schema: { type: 'string', minLength: 1 },
      aliases: ['jmespath_expression'],
      required: true,
      description: 'A JMESPath expression, such as `items[].name`.',
    },
    expected: {
      schema: {},
      description: 'The result is exactly this value; numbers compare as doubles.',
    },
    contains: {
      schema: { type: 'array', minItems: 1 },
      description: 'The result is a list that contains each of these values.',
    },
    min: { schema: { type: 'number' }, description: 'The result is a number, and not less than this.' },
    max: { schema: { type: 'number' }, description: 'The result is a number, and not more than this.' },
    min_results: {
      schema: { type: 'integer', minimum: 0 },
      description: 'The result is a list with at least this number of elements; null counts as empty.',
    },
    max_results: {
      schema: { type: 'integer', minimum: 0 },
      description: 'The result is a list with at most this number of elements; null counts as empty.',
    },
    ...jsonLocationParams,
  },
  example: {
    params: { expression: 'items[?price > `10`].name', expected: ['lamp'] },
    content: '{"items": [{"name": "lamp", "price": 20}, {"name": "bulb", "price": 3}]}',
    score: 1,
  },
  findProblems: ({ expression }) => {
    const message = findExpressionProblem(String(expression));
    return message === undefined ? [] : [{ param: 'expression', message }];
  },
  run: scoreJsonPath,
};

async function scoreJsonPath({ params, request, signal }: CheckInput): Promise<EvalOutcome> {
  const found = findContentJson(request.content, params);
  if ('problem' in found) return scored(0, `not JSON: ${found.problem}`);
  const job = { expression: String(params['expression']), text: found.text };
  const done = await runBounded('search', job, signal);
  if ('exceeded' in done) return unscored(`evaluating the expression ${done.exceeded}`);
  const { answer } = done;
  if ('invalid' in answer) return unscored(`the expression is not valid: ${answer.invalid}`);
  if ('mismatch' in answer) return scored(0, `the expression does not fit the content: ${answer.mismatch}`);
  const unmet = findUnmetConditions(JSON.parse(answer.found), params);
  const data = foundData(answer.found);
  return unmet.length === 0 ? scored(1, 'found as expected', data) : scored(0, unmet.join('; '), data);
}

function foundData(found: string): Json | undefined {
  return found.length <= 2000 ? Json.from({ found: new Json(found) }) : undefined;
}

function findUnmetConditions(found: unknown, params: Params): string[] {
  const given = Object.keys(conditions).filter((name) => name in params);
  if (given.length === 0) return found === null ? ['nothing was found'] : [];
  return given.flatMap((name) => conditions[name]?.(found, params[name]) ?? []);
}

type Condition = (found: unknown, wanted: unknown) => string | undefined;

const conditions: Readonly<Record<string, Condition>> = {
  expected: (found, wanted) =>
    isSameByValue(found, wanted) ? undefined : `found ${excerpt(found)}, not ${excerpt(wanted)}`,
  contains: (found, wanted) => {
    if (!Array.isArray(found)) return `found ${excerpt(found)}, which is not a list`;
    const items: readonly unknown[] = Array.isArray(wanted) ? wanted : [];
    const missing = items.filter((item) => !found.some((element) => isSameByValue(element, item)));
    return missing.length === 0 ? undefined : `the list lacks ${missing.map(excerpt).join(', ')}`;
  },
  min: (found, wanted) => compare(found, wanted, (a, b) => a >= b, 'less'),
  max: (found, wanted) => compare(found, wanted, (a, b) => a <= b, 'more'),
  min_results: (found, wanted) => compare(lengthOf(found), wanted, (a, b) => a >= b, 'fewer'),
  max_results: (found, wanted) => compare(lengthOf(found), wanted, (a, b) => a <= b, 'more'),
};

function compare(
  found: unknown,
  wanted: unknown,
  isMet: (found: number, wanted: number) => boolean,
  comparison: string,
): string | undefined {
  if (typeof found !== 'number') return `found ${excerpt(found)}, which is not a number or a list to compare`;
  return isMet(found, Number(wanted))
    ? undefined
    : `found ${found}, which is ${comparison} than ${excerpt(wanted)}`;
}

/** Returns the length of a list and 0 for null. Other values are wrapped, so that no number compares with them. */
function lengthOf(found: unknown): unknown {
  if (found === null) return 0;
  return Array.isArray(found) ? found.length : { found };
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

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
    description: 'The maximum cost in US dollars: `cost_usd`, or PromptKit’s `total_cost`.',
  },
  max_input_tokens: { schema: tokens, description: 'The maximum of `input_tokens`.' },
  max_output_tokens: { schema: tokens, description: 'The maximum of `output_tokens`.' },
  max_total_tokens: {
    schema: tokens,
    description: 'The maximum of all tokens: `total_tokens`, else `input_tokens` + `output_tokens`.',
  },
};

const costBudget: Check = {
  type: 'cost_budget',
  aliases: [],
  family: 'budget',
  summary:
    'How near the answer came to its limits: the lowest of min(1, limit / used), with the usage in `context.metadata`.',
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
  return { missing: `metadata.total_tokens is missing; ${missing.join('; ')}` };
}

const jsonSchema: Check = {
  type: 'json_schema',
  aliases: [],
  family: 'json',
  summary: 'Whether the content is JSON that fits a JSON Schema, formats included.',
  range: '0 or 1',
  params: {
    schema: {
      schema: { type: 'object' },
      required: true,
      description:
        '2020-12, or what its `$schema` names of 2019-09 and draft-07. References work only within the schema.',
    },
    ...jsonLocationParams,
  },
  example: {
    params: { schema: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } } },
    content: '{"city": 7}',
    score: 0,
  },
  findProblems: ({ schema }) => {
    const message = findSchemaProblem(JSON.stringify(schema));
    return message === undefined ? [] : [{ param: 'schema', message }];
  },
  run: scoreJsonSchema,
};

async function scoreJsonSchema({ params, request, signal }: CheckInput): Promise<EvalOutcome> {
  const found = findContentJson(request.content, params);
  if ('problem' in found) return scored(0, `not JSON: ${found.problem}`);
  const job = { schema: JSON.stringify(params['schema']), text: found.text };
  const done = await runBounded('schema', job, signal);
  if ('exceeded' in done) return unscored(`comparing with the schema ${done.exceeded}`);
  const { violations, count } = done.answer;
  if (count === 0) return scored(1, 'fits the schema');
  const more = count > violations.length ? `; and ${count - violations.length} more` : '';
  return scored(
    0,
    `does not fit the schema: ${violations.join('; ')}${more}`,
    Json.from({ violations, count }),
  );
}

/** Detects by n-grams: https://github.com/nitotm/efficient-language-detector-js */
const language: Check = {
  type: 'language',
  aliases: ['is_language'],
  family: 'instructions',
  summary:
    'The share of the content that is in one of the languages. The check knows about sixty, by their runs of letters.',
  range: '0..1',
  params: {
    language: {
      schema: { anyOf: [codeSchema, { type: 'array', items: codeSchema, minItems: 1 }] },
      aliases: ['languages'],
      required: true,
      description: 'A code of ISO 639-1, such as `de`, or several; the part after a hyphen does not count.',
    },
  },
  example: { params: { language: ['de', 'fr'] }, content: 'Der Zug fährt um neun Uhr ab.', score: 1 },
  run: async ({ params, request }) => {
    const found = await detectLanguages(request.content);
    if (found === undefined) return unscored('the content has too few words to detect its language');
    const wanted = new Set([params['language']].flat().map(languageOf));
    const share = [...wanted].reduce((sum, one) => sum + (found.get(one) ?? 0), 0);
    const told = [...found].map(([one, part]) => `${one} ${Math.round(100 * part)} %`).join(', ');
    return scored(Math.min(1, share), told, Json.from(Object.fromEntries(found)));
  },
};

const instructionChecks: readonly Check[] = [...ruleChecks, ifeval, language];

const latencyBudget: Check = {
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

const jsonValid: Check = {
  type: 'json_valid',
  aliases: ['is_valid_json', 'valid_json'],
  family: 'json',
  summary: 'Whether the content is JSON.',
  range: '0 or 1',
  params: jsonLocationParams,
  example: { params: { allow_wrapped: true }, content: '```json\n{"city": "Oslo"}\n```', score: 1 },
  run: ({ params, request }) => {
    const found = findContentJson(request.content, params);
    return 'problem' in found ? scored(0, `not JSON: ${found.problem}`) : scored(1, 'is JSON');
  },
};

const jsonChecks: readonly Check[] = [jsonValid, jsonSchema, jsonPath];

/** Checks of an answer's cost and latency, which read `context.metadata`. */
const budgetChecks: readonly Check[] = [latencyBudget, costBudget];

export const checks: readonly Check[] = [
  ...textChecks,
  ...referenceChecks,
  ...instructionChecks,
  ...jsonChecks,
  ...toolChecks,
  ...budgetChecks,
  ...judgeChecks,
  ...embeddingChecks,
];

export function findCheck(type: string): Check | undefined {
  return byType.get(type);
}

export function checkTypes(): readonly string[] {
  return [...byType.keys()];
}

const byType: ReadonlyMap<string, Check> = new Map(
  checks.flatMap((check) => [check.type, ...check.aliases].map((name) => [name, check] as const)),
);

type Measure = { readonly value: number } | { readonly missing: string };

function readMeasure({ metadata }: EvalContext, names: readonly string[]): Measure {
  const name = names.find((candidate) => isPresent(metadata[candidate]));
  if (name === undefined) return { missing: `metadata.${names.join(' or metadata.')} is missing` };
  const value = toNumber(metadata[name]);
  return value === undefined ? { missing: `metadata.${name} is not a number of at least 0` } : { value };
}

/** 1 up to the limit; above it, the limit divided by the used amount. Never divides by 0. */
function scoreLimit(used: number, limit: number): number {
  return used <= limit ? 1 : limit / used;
}

function isPresent(value: unknown): boolean {
  const plain = value instanceof Json ? value.value : value;
  return plain !== undefined && plain !== null;
}

function toNumber(value: unknown): number | undefined {
  const plain = value instanceof Json ? value.value : value;
  const number = JSON.isRawJSON(plain) ? Number(plain.rawJSON) : plain;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}
