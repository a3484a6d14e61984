import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import { runBounded } from '../bounded/run-bounded.ts';
import type { Check, CheckInput } from '../check.ts';
import { findContentJson, jsonLocationParams } from './json-location-params.ts';
import { findSchemaProblem } from './schema-comparison.ts';

export const jsonSchema: Check = {
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
        '2020-12, or what its `$schema` names of 2019-09 and draft-07. References lead nowhere but into itself.',
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
  if ('problem' in found) return scored(0, `no JSON: ${found.problem}`);
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
