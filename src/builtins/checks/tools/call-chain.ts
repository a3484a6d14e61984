import { isObject, Json } from '../../../base/json/json.ts';
import { type EvalToolCall, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, Params } from '../check.ts';
import { checkCall, conditionParams, findPatternProblems } from './call-conditions.ts';
import { judgedCalls, scopeParam } from './judged-calls.ts';
import { listCalled } from './wording.ts';

const conditionSchemas = Object.fromEntries(
  Object.entries(conditionParams).map(([name, { schema }]) => [name, schema]),
);

const name = { type: 'string', minLength: 1 };

export const toolCallChain: Check = {
  type: 'tool_call_chain',
  aliases: [],
  family: 'tools',
  summary: 'How far the turn called the tools of the steps in this order, each with what its step asks for.',
  range: 'ratio',
  params: {
    steps: {
      schema: {
        type: 'array',
        minItems: 1,
        items: {
          anyOf: [
            name,
            {
              type: 'object',
              additionalProperties: false,
              required: ['tool'],
              properties: { tool: name, ...conditionSchemas },
            },
          ],
        },
      },
      aliases: ['chain'],
      required: true,
      description:
        'Steps: `{tool, args_match, result_includes, result_matches, no_error}`, or the name of the tool alone. The first call of the tool after the step before is the one that counts.',
    },
    scope: scopeParam,
  },
  example: {
    params: {
      steps: [
        { tool: 'lookup', result_includes: ['paid'] },
        { tool: 'refund', no_error: true },
      ],
    },
    context: {
      tool_calls: [
        { name: 'lookup', args: { order: 7 }, result: 'paid', error: '', index: 1 },
        { name: 'refund', args: { order: 7 }, result: '', error: 'too late', index: 2 },
      ],
    },
    score: 0.5,
  },
  findProblems: (params) =>
    stepsOf(params).flatMap((step, index) => findPatternProblems(step, `step ${index + 1}:`)),
  run: (input) => scoreChain(input, judgedCalls(input)),
};

async function scoreChain(input: CheckInput, calls: readonly EvalToolCall[]) {
  const steps = stepsOf(input.params);
  let completed = 0;
  const outcome = (detail: string) =>
    scored(
      completed / steps.length,
      detail,
      Json.from({
        completed_steps: completed,
        total_steps: steps.length,
        chain: steps.map(({ tool }) => tool),
      }),
    );
  for (const call of calls) {
    const step = steps[completed];
    if (step === undefined) break;
    if (call.name !== step['tool']) continue;
    const judged = await checkCall(call, step, input.signal);
    if ('timedOut' in judged) return unscored(judged.timedOut);
    if (judged.failures.length > 0) {
      return outcome(`step ${completed + 1}, ${call.name}: ${judged.failures.join('; ')}`);
    }
    completed += 1;
  }
  const missing = steps[completed];
  if (missing === undefined) return outcome('every step was done');
  return outcome(`step ${completed + 1}: ${missing['tool']} was not called; ${listCalled(calls)}`);
}

function stepsOf({ steps }: Params): readonly Params[] {
  const list: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return list.map((step) => (isObject(step) ? step : { tool: step }));
}
