import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import { runBounded } from '../bounded/run-bounded.ts';
import type { Check, CheckInput } from '../check.ts';
import { findUnmetConditions } from './conditions.ts';
import { findContentJson, jsonLocationParams } from './json-location-params.ts';
import { findExpressionProblem } from './json-search.ts';

export const jsonPath: Check = {
  type: 'json_path',
  aliases: [],
  family: 'json',
  summary:
    'Whether what a JMESPath expression finds in the content meets every condition; without one, whether it finds anything but null.',
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
      description: 'What is found is this very value; numbers are compared as doubles.',
    },
    contains: {
      schema: { type: 'array', minItems: 1 },
      description: 'What is found is a list that holds each of these values.',
    },
    min: { schema: { type: 'number' }, description: 'What is found is a number, and no less.' },
    max: { schema: { type: 'number' }, description: 'What is found is a number, and no more.' },
    min_results: {
      schema: { type: 'integer', minimum: 0 },
      description: 'What is found is a list with so many elements or more; null counts as an empty one.',
    },
    max_results: {
      schema: { type: 'integer', minimum: 0 },
      description: 'What is found is a list with so many elements or fewer; null counts as an empty one.',
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
  if ('problem' in found) return scored(0, `no JSON: ${found.problem}`);
  const job = { expression: String(params['expression']), text: found.text };
  const done = await runBounded('search', job, signal);
  if ('exceeded' in done) return unscored(`evaluating the expression ${done.exceeded}`);
  const { answer } = done;
  if ('invalid' in answer) return unscored(`the expression is wrong: ${answer.invalid}`);
  if ('mismatch' in answer) return scored(0, `the expression does not fit the content: ${answer.mismatch}`);
  const unmet = findUnmetConditions(JSON.parse(answer.found), params);
  const data = foundData(answer.found);
  return unmet.length === 0 ? scored(1, 'found as wanted', data) : scored(0, unmet.join('; '), data);
}

/** What was found, unless it is so long that it would swell every report. */
function foundData(found: string): Json | undefined {
  return found.length <= 2000 ? Json.from({ found: new Json(found) }) : undefined;
}
