import { Json } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import { type EvalToolCall, scored } from '../../../contract/eval.ts';
import type { Check, Params } from '../check.ts';
import { textsOf } from '../text/text-params.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './judged-calls.ts';
import { anyTool, countParam, someTools } from './tool-params.ts';
import { formatCallCount, listCalled } from './wording.ts';

const twoCalls = [
  { name: 'lookup', args: { order: 7 }, result: 'paid', error: '', index: 1 },
  { name: 'lookup', args: { order: 7 }, result: '', error: 'busy', index: 2 },
];

export const toolCallCount: Check = {
  type: 'tool_call_count',
  aliases: [],
  family: 'tools',
  summary: 'Whether the turn called the tool, or tools at all, often enough and not too often.',
  range: '0 or 1',
  params: {
    tool: anyTool,
    min: countParam('The minimum number of calls.'),
    max: countParam('The maximum number of calls.'),
    scope: scopeParam,
  },
  anyOf: [['min', 'max']],
  example: { params: { tool: 'lookup', min: 1, max: 2 }, context: { tool_calls: twoCalls }, score: 1 },
  findProblems: ({ min, max }) =>
    min !== undefined && max !== undefined && Number(max) < Number(min)
      ? [{ param: 'max', message: `is below min, which is ${min}` }]
      : [],
  run: (input) => {
    const { tool, min = 0, max = Number.POSITIVE_INFINITY } = input.params;
    const count = judgedCallsOf(input, 'tool').length;
    const detail = tool === undefined ? formatCallCount(count) : `${formatCallCount(count)} of ${tool}`;
    const data = Json.from({ count, tool });
    if (count < Number(min)) return scored(0, `${detail}, at least ${min} wanted`, data);
    if (count > Number(max)) return scored(0, `${detail}, at most ${max} wanted`, data);
    return scored(1, detail, data);
  },
};

export const toolNoRepeat: Check = {
  type: 'tool_no_repeat',
  aliases: [],
  family: 'tools',
  summary: 'Whether the turn called no tool more than `max_repeats` times in a row, with any arguments.',
  range: '0 or 1',
  params: {
    tools: someTools,
    max_repeats: {
      ...countParam('How many calls of one tool may follow one another.', 1),
      default: 1,
    },
    scope: scopeParam,
  },
  example: { params: {}, context: { tool_calls: twoCalls }, score: 0 },
  run: (input) => {
    const tools = textsOf(input.params, 'tools');
    const max = Number(input.params['max_repeats']);
    const repeated = findRuns(judgedCalls(input)).filter(
      ({ tool, calls }) => calls > max && (tools.length === 0 || tools.includes(tool)),
    );
    const data = Json.from({ repeated_tools: repeated });
    if (repeated.length === 0) return scored(1, `no tool was called more than ${max} times in a row`, data);
    const descriptions = repeated.map(({ tool, calls }) => `${tool} was called ${calls} times in a row`);
    return scored(0, `${descriptions.join(', ')}, at most ${max} wanted`, data);
  },
};

export const noToolErrors: Check = {
  type: 'no_tool_errors',
  aliases: [],
  family: 'tools',
  summary: 'The share of the turn’s calls that did not fail; 1 without calls.',
  range: 'ratio',
  params: { tools: someTools, scope: scopeParam },
  example: { params: {}, context: { tool_calls: twoCalls }, score: 0.5 },
  run: (input) => {
    const tools = textsOf(input.params, 'tools');
    const calls = judgedCalls(input).filter(({ name }) => tools.length === 0 || tools.includes(name));
    const errors = calls.filter(({ error }) => error !== '');
    const data = Json.from({
      error_count: errors.length,
      total_calls: calls.length,
      errors: errors.map(({ name: tool, error, index }) => ({ tool, error, index })),
    });
    if (errors.length === 0) return scored(1, `no call failed; ${listCalled(calls)}`, data);
    const descriptions = errors.map(({ name, error }) => `${name} failed: ${shorten(error)}`);
    return scored((calls.length - errors.length) / calls.length, descriptions.join('; '), data);
  },
};

export const toolEfficiency: Check = {
  type: 'tool_efficiency',
  aliases: [],
  family: 'tools',
  summary:
    'How few calls the turn needed: 1 - calls / `max_calls`, or 1 without `max_calls`; 0 above a limit.',
  range: 'ratio',
  params: {
    max_calls: countParam('The maximum number of calls.'),
    max_errors: countParam('How many of them may fail.'),
    max_error_rate: {
      schema: { type: 'number', minimum: 0, maximum: 1 },
      description: 'Which share of them may fail.',
    },
    scope: scopeParam,
  },
  anyOf: [['max_calls', 'max_errors', 'max_error_rate']],
  example: { params: { max_calls: 8, max_errors: 1 }, context: { tool_calls: twoCalls }, score: 0.75 },
  run: (input) => {
    const calls = judgedCalls(input);
    const errors = calls.filter(({ error }) => error !== '').length;
    const rate = calls.length === 0 ? 0 : errors / calls.length;
    const data = Json.from({ total_calls: calls.length, errors, error_rate: rate });
    const exceeded = listExceeded(input.params, { calls: calls.length, errors, rate });
    if (exceeded.length > 0) return scored(0, exceeded.join(', '), data);
    const max = Number(input.params['max_calls'] ?? 0);
    const score = max > 0 ? (max - calls.length) / max : 1;
    return scored(score, `${formatCallCount(calls.length)}, ${errors} of them failed`, data);
  },
};

function findRuns(calls: readonly EvalToolCall[]): { tool: string; calls: number }[] {
  const runs: { tool: string; calls: number }[] = [];
  for (const { name } of calls) {
    const last = runs.at(-1);
    if (last?.tool === name) last.calls += 1;
    else runs.push({ tool: name, calls: 1 });
  }
  return runs;
}

interface Stats {
  readonly calls: number;
  readonly errors: number;
  readonly rate: number;
}

function listExceeded({ max_calls, max_errors, max_error_rate }: Params, stats: Stats): string[] {
  const exceeds = (value: number, most: unknown) => most !== undefined && value > Number(most);
  return [
    ...(exceeds(stats.calls, max_calls)
      ? [`${formatCallCount(stats.calls)}, at most ${max_calls} wanted`]
      : []),
    ...(exceeds(stats.errors, max_errors) ? [`${stats.errors} failed, at most ${max_errors} wanted`] : []),
    ...(exceeds(stats.rate, max_error_rate)
      ? [`${stats.errors} of ${stats.calls} failed, at most the share ${max_error_rate} wanted`]
      : []),
  ];
}
