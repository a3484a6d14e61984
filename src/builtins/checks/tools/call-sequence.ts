import { isObject, Json } from '../../../base/json/json.ts';
import { type EvalToolCall, scored } from '../../../contract/eval.ts';
import type { Check, Params } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { judgedCalls, scopeParam } from './judged-calls.ts';
import { listCalled } from './wording.ts';

export const toolCallSequence: Check = {
  type: 'tool_call_sequence',
  aliases: [],
  family: 'tools',
  summary: 'How far the turn called the tools in this order, with any other calls between them.',
  range: 'ratio',
  params: {
    sequence: {
      schema: textsParam,
      required: true,
      description: 'The tools in the expected order.',
    },
    scope: scopeParam,
  },
  example: {
    params: { sequence: ['lookup', 'refund'] },
    context: {
      tool_calls: [
        { name: 'refund', args: {}, result: 'ok', error: '', index: 1 },
        { name: 'lookup', args: {}, result: 'paid', error: '', index: 2 },
      ],
    },
    score: 0.5,
  },
  run: (input) => {
    const sequence = textsOf(input.params, 'sequence');
    const calls = judgedCalls(input);
    const matched = countInOrder(calls, sequence);
    const data = Json.from({
      matched,
      expected_sequence: sequence,
      actual_sequence: calls.map(({ name }) => name),
    });
    const missing = sequence[matched];
    if (missing === undefined) return scored(1, `called in order: ${sequence.join(', ')}`, data);
    const before = sequence[matched - 1];
    const problem = before === undefined ? 'was not called' : `was not called after ${before}`;
    return scored(matched / sequence.length, `${missing} ${problem}; ${listCalled(calls)}`, data);
  },
};

export const toolAntiPattern: Check = {
  type: 'tool_anti_pattern',
  aliases: [],
  family: 'tools',
  summary: 'Whether the turn called no forbidden sequence of tools, with any other calls between them.',
  range: '0 or 1',
  params: {
    patterns: {
      schema: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['sequence'],
          properties: { sequence: textsParam, message: { type: 'string' } },
        },
      },
      required: true,
      description: 'Forbidden sequences: `{sequence: [tools], message: why}`.',
    },
    scope: scopeParam,
  },
  example: {
    params: { patterns: [{ sequence: ['refund', 'lookup'], message: 'look before you pay' }] },
    context: {
      tool_calls: [
        { name: 'refund', args: {}, result: 'ok', error: '', index: 1 },
        { name: 'lookup', args: {}, result: 'paid', error: '', index: 2 },
      ],
    },
    score: 0,
  },
  run: (input) => {
    const calls = judgedCalls(input);
    const violations = patternsOf(input.params).filter(
      ({ sequence }) => countInOrder(calls, sequence) === sequence.length,
    );
    const data = Json.from({ violations });
    if (violations.length === 0) return scored(1, `none of the sequences; ${listCalled(calls)}`, data);
    const descriptions = violations.map(({ sequence, message }) =>
      message === '' ? sequence.join(', ') : `${sequence.join(', ')} (${message})`,
    );
    return scored(0, `called in order: ${descriptions.join('; ')}`, data);
  },
};

function countInOrder(calls: readonly EvalToolCall[], sequence: readonly string[]): number {
  let matched = 0;
  for (const { name } of calls) if (name === sequence[matched]) matched += 1;
  return matched;
}

function patternsOf({ patterns }: Params): { sequence: readonly string[]; message: string }[] {
  const list: readonly unknown[] = Array.isArray(patterns) ? patterns : [];
  return list.filter(isObject).map((pattern) => ({
    sequence: textsOf(pattern, 'sequence'),
    message: typeof pattern['message'] === 'string' ? pattern['message'] : '',
  }));
}
