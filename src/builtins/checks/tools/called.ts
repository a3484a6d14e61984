import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, type EvalToolCall, scored } from '../../../contract/eval.ts';
import type { Check, CheckInput, Params } from '../check.ts';
import { textsOf } from '../text/text-params.ts';
import { argsOf } from './call-arguments.ts';
import { judgedCalls, scopeParam } from './judged-calls.ts';
import { countParam, flagParam, toolNames } from './tool-params.ts';
import { countCalls, formatCallCount, listCalled } from './wording.ts';

const minCalls = { ...countParam('How many calls each of them needs.'), default: 1 };

export const toolsCalled: Check = {
  type: 'tools_called',
  aliases: ['tool_called'],
  family: 'tools',
  summary:
    'The share of the tools that the turn called without an error; 0 if one has more than `max_calls` calls.',
  range: 'ratio',
  params: {
    tool_names: toolNames,
    min_calls: minCalls,
    max_calls: countParam('How many calls each of them may have.'),
    ignore_validation: flagParam('Whether calls with the `error_type` `validation` also count.'),
    require_args: flagParam('Whether calls without arguments do not count.'),
    scope: scopeParam,
  },
  example: {
    params: { tool_names: ['lookup', 'refund'] },
    context: { tool_calls: [{ name: 'lookup', args: { order: 7 }, result: 'paid', error: '', index: 1 }] },
    score: 0.5,
  },
  findProblems: ({ min_calls, max_calls }) =>
    max_calls !== undefined && Number(max_calls) < Number(min_calls)
      ? [{ param: 'max_calls', message: `is below min_calls, which is ${min_calls}` }]
      : [],
  run: (input) => {
    const calls = judgedCalls(input);
    return scoreCalled(input.params, { calls, counted: calls.filter((call) => counts(call, input.params)) });
  },
};

export const toolsCalledSession: Check = {
  type: 'tools_called_session',
  aliases: [],
  family: 'tools',
  summary: 'The share of the tools that the whole conversation called, with or without an error.',
  range: 'ratio',
  params: { tool_names: toolNames, min_calls: { ...minCalls, schema: { type: 'integer', minimum: 1 } } },
  example: {
    params: { tool_names: ['lookup'], min_calls: 2 },
    context: { tool_calls: [{ name: 'lookup', args: { order: 7 }, result: 'paid', error: '', index: 1 }] },
    score: 0,
  },
  run: ({ params, request: { context } }) =>
    scoreCalled(params, { calls: context.tool_calls, counted: context.tool_calls }),
};

export const toolsNotCalled: Check = {
  type: 'tools_not_called',
  aliases: [],
  family: 'tools',
  summary: 'Whether the turn called none of the tools, not even with an error.',
  range: '0 or 1',
  params: { tool_names: toolNames, scope: scopeParam },
  example: {
    params: { tool_names: ['refund'] },
    context: { tool_calls: [{ name: 'refund', args: {}, result: '', error: 'denied', index: 1 }] },
    score: 0,
  },
  run: (input) => scoreNotCalled(input, judgedCalls(input)),
};

export const toolsNotCalledSession: Check = {
  type: 'tools_not_called_session',
  aliases: [],
  family: 'tools',
  summary: 'Whether the whole conversation called none of the tools.',
  range: '0 or 1',
  params: { tool_names: toolNames },
  example: { params: { tool_names: ['refund'] }, context: { tool_calls: [] }, score: 1 },
  run: (input) => scoreNotCalled(input, input.request.context.tool_calls),
};

function counts(call: EvalToolCall, { ignore_validation, require_args }: Params): boolean {
  const isFailed = call.error !== '' && !(ignore_validation === true && call.error_type === 'validation');
  return !isFailed && (require_args !== true || Object.keys(argsOf(call)).length > 0);
}

interface CountedCalls {
  readonly calls: readonly EvalToolCall[];
  readonly counted: readonly EvalToolCall[];
}

function scoreCalled(params: Params, { calls, counted }: CountedCalls): EvalOutcome {
  const names = textsOf(params, 'tool_names');
  const [min, max] = [Number(params['min_calls']), Number(params['max_calls'] ?? Number.POSITIVE_INFINITY)];
  const [all, good] = [countCalls(calls), countCalls(counted)];
  const countOf = (name: string) => good.get(name) ?? 0;
  const missing = names.filter((name) => countOf(name) < min);
  const over = names.filter((name) => countOf(name) > max);
  const complaints = [
    ...missing.map((name) => describeMissing(name, { count: countOf(name), all: all.get(name) ?? 0, min })),
    ...over.map((name) => `${name} was called ${countOf(name)} times, at most ${max} wanted`),
  ];
  const found = names.length - missing.length;
  const detail = complaints.length === 0 ? `all ${names.length} were called` : complaints.join(', ');
  return scored(
    over.length > 0 ? 0 : found / names.length,
    `${detail}; ${listCalled(calls)}`,
    Json.from({ found, expected: names.length, missing, over_limit: over }),
  );
}

function describeMissing(
  name: string,
  { count, all, min }: { count: number; all: number; min: number },
): string {
  const description = min === 1 ? `${name} was not called` : `${name} was called ${count} of ${min} times`;
  return all > count
    ? `${description} (${formatCallCount(all - count)} failed or had no arguments)`
    : description;
}

function scoreNotCalled({ params }: CheckInput, calls: readonly EvalToolCall[]): EvalOutcome {
  const forbidden = new Set(textsOf(params, 'tool_names'));
  const called = [...countCalls(calls.filter(({ name }) => forbidden.has(name))).keys()];
  const data = Json.from({ forbidden_called: called });
  if (called.length > 0) {
    const verb = called.length === 1 ? 'was' : 'were';
    return scored(0, `${called.join(', ')} ${verb} called; ${listCalled(calls)}`, data);
  }
  return scored(1, `none of them was called; ${listCalled(calls)}`, data);
}
