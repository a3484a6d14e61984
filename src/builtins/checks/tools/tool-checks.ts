import { isObject, Json } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import { searchFolded } from '../../../base/text/words.ts';
import { type EvalOutcome, type EvalToolCall, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamProblem, ParamSpec, Params } from '../check.ts';
import { findPatternProblem, matchPattern } from '../regex/pattern-match.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { toolArgs, toolArgsExcludedSession, toolArgsSession } from './call-args.ts';
import { argsOf, findMismatches, formatValue, textOfArg } from './call-arguments.ts';
import { noToolErrors, toolCallCount, toolEfficiency, toolNoRepeat } from './call-counts.ts';
import { toolAntiPattern, toolCallSequence } from './call-sequence.ts';
import { toolsCalled, toolsCalledSession, toolsNotCalled, toolsNotCalledSession } from './called.ts';
import { exactParam, type Members } from './exact-values.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './judged-calls.ts';
import { toolResultHasMedia, toolResultMediaType } from './result-media.ts';
import { anyTool, anyToolName, flagParam, occurrence, resultPatterns, tool } from './tool-params.ts';
import { formatCallCount, listCalled } from './wording.ts';

const conditionParams = {
  args_match: {
    schema: { type: 'object', additionalProperties: { type: 'string', minLength: 1 } },
    description: 'Arguments, each with a pattern for its text, or for the JSON text of any other value.',
  },
  result_includes: { schema: textsParam, description: 'Texts that the result must contain, in any case.' },
  result_matches: {
    schema: { type: 'string', minLength: 1 },
    description: 'A pattern that must match in the result.',
  },
  no_error: flagParam('Whether the call must be without an error.'),
} as const satisfies Readonly<Record<string, ParamSpec>>;

type CallCheck = { readonly failures: readonly string[] } | { readonly timedOut: string };

async function checkCall(call: EvalToolCall, params: Params, signal: AbortSignal): Promise<CallCheck> {
  const failures = [...findError(call, params), ...findMissingTexts(call, params)];
  for (const { pattern, text, failure } of listMatches(call, params)) {
    const match = text === undefined ? { matched: false } : await matchPattern(pattern, text, signal);
    if ('timedOut' in match) return match;
    if (!match.matched) failures.push(failure);
  }
  return { failures };
}

function findPatternProblems(params: Params, where?: string): ParamProblem[] {
  const { result_matches: pattern } = params;
  const patterns = [
    ...patternsOf(params).map(([name, source]) => ({ param: 'args_match', place: ` ${name}`, source })),
    ...(typeof pattern === 'string' ? [{ param: 'result_matches', place: '', source: pattern }] : []),
  ];
  return patterns.flatMap(({ param, place, source }) => {
    const problem = findPatternProblem(source);
    if (problem === undefined) return [];
    if (where !== undefined) return [{ param: 'steps', message: `${where} ${param}${place} ${problem}` }];
    return [{ param, message: `${place} ${problem}`.trim() }];
  });
}

function findError({ error }: EvalToolCall, { no_error }: Params): string[] {
  return no_error === true && error !== '' ? [`it failed: ${shorten(error)}`] : [];
}

function findMissingTexts({ result }: EvalToolCall, params: Params): string[] {
  const { has } = searchFolded(result);
  return textsOf(params, 'result_includes')
    .filter((text) => !has(text))
    .map((text) => `its result lacks ${formatValue(text)}`);
}

interface WantedMatch {
  readonly pattern: string;
  readonly text: string | undefined;
  readonly failure: string;
}

function listMatches(call: EvalToolCall, params: Params): WantedMatch[] {
  const args = argsOf(call);
  const { result_matches: pattern } = params;
  const ofArgs = patternsOf(params).map(([name, wanted]): WantedMatch => {
    if (!Object.hasOwn(args, name))
      return { pattern: wanted, text: undefined, failure: `${name} is missing` };
    const failure = `${name} ${formatValue(args[name])} does not match ${wanted}`;
    return { pattern: wanted, text: textOfArg(args[name]), failure };
  });
  if (typeof pattern !== 'string') return ofArgs;
  return [...ofArgs, { pattern, text: call.result, failure: `its result does not match ${pattern}` }];
}

function patternsOf({ args_match: patterns }: Params): [name: string, pattern: string][] {
  return Object.entries(patterns ?? {}).map(([name, pattern]) => [name, String(pattern)]);
}

const conditionSchemas = Object.fromEntries(
  Object.entries(conditionParams).map(([name, { schema }]) => [name, schema]),
);

const name = { type: 'string', minLength: 1 };

const toolCallChain: Check = {
  type: 'tool_call_chain',
  aliases: [],
  family: 'tools',
  summary: 'How far the turn called the tools of the steps in this order, each as its step requires.',
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
        'Steps: `{tool, args_match, result_includes, result_matches, no_error}`, or only the name of the tool. The first call of the tool after the previous step counts.',
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
  if (missing === undefined) return outcome('every step was completed');
  return outcome(`step ${completed + 1}: ${missing['tool']} was not called; ${listCalled(calls)}`);
}

function stepsOf({ steps }: Params): readonly Params[] {
  const list: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return list.map((step) => (isObject(step) ? step : { tool: step }));
}

const toolCallsWithArgs: Check = {
  type: 'tool_calls_with_args',
  aliases: [],
  family: 'tools',
  summary:
    'Whether every call of the tool in the turn meets the conditions; 0 if a call of the given tool is missing.',
  range: '0 or 1',
  params: {
    tool_name: anyToolName,
    expected_args: {
      schema: { type: 'object', minProperties: 1 },
      description:
        'Arguments and their values, compared as JSON with all digits; null stands for any value, and further arguments do not matter.',
    },
    ...conditionParams,
    scope: scopeParam,
  },
  anyOf: [['expected_args', ...Object.keys(conditionParams)]],
  example: {
    params: {
      tool_name: 'refund',
      expected_args: { order: 7 },
      args_match: { reason: '^late' },
      no_error: true,
    },
    context: {
      tool_calls: [
        { name: 'refund', args: { order: 7, reason: 'late parcel' }, result: 'ok', error: '', index: 1 },
      ],
    },
    score: 1,
  },
  findProblems: (params) => findPatternProblems(params),
  run: async (input) => {
    const calls = judgedCallsOf(input, 'tool_name');
    const name = input.params['tool_name'];
    if (name !== undefined && calls.length === 0) {
      const called = listCalled(judgedCalls(input));
      return scored(0, `${name} was not called; ${called}`, Json.from({ matching_calls: 0, violations: [] }));
    }
    return scoreCalls(input, calls);
  },
};

async function scoreCalls(input: CheckInput, calls: ReturnType<typeof judgedCallsOf>) {
  const expected = exactParam(input, 'expected_args');
  const violations: { tool: string; index: number; failure: string }[] = [];
  for (const call of calls) {
    const judged = await checkCall(call, input.params, input.signal);
    if ('timedOut' in judged) return unscored(judged.timedOut);
    const failures = [...findMismatchesWithNull(argsOf(call), expected), ...judged.failures];
    violations.push(...failures.map((failure) => ({ tool: call.name, index: call.index, failure })));
  }
  const data = Json.from({ matching_calls: calls.length, violations });
  if (violations.length === 0) {
    return scored(1, `every call is as expected; ${listCalled(calls)}`, data);
  }
  const shown = violations.slice(0, MAX_VIOLATIONS).map(({ tool, failure }) => `${tool}: ${failure}`);
  const rest = violations.length - shown.length;
  return scored(0, `${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`, data);
}

const MAX_VIOLATIONS = 10;

/** An expected null accepts any value of an existing argument. */
function findMismatchesWithNull(args: Members, expected: Members): readonly string[] {
  const entries = Object.entries(expected);
  const missing = entries.filter(([name, value]) => value === null && !Object.hasOwn(args, name));
  const valued = Object.fromEntries(entries.filter(([, value]) => value !== null));
  return [...missing.map(([name]) => `${name} is missing`), ...findMismatches(args, valued)];
}

const paid = { name: 'lookup', args: { order: 7 }, result: 'Order 7: PAID', error: '', index: 1 };

const toolResultIncludes: Check = {
  type: 'tool_result_includes',
  aliases: [],
  family: 'tools',
  summary: 'Whether the results of enough calls in the turn contain all of the texts.',
  range: '0 or 1',
  params: { tool: anyTool, patterns: resultPatterns, occurrence, scope: scopeParam },
  example: {
    params: { tool: 'lookup', patterns: ['paid', 'order'] },
    context: { tool_calls: [paid] },
    score: 1,
  },
  run: (input) => scoreResults(input, { result_includes: input.params['patterns'] }),
};

const toolResultMatches: Check = {
  type: 'tool_result_matches',
  aliases: [],
  family: 'tools',
  summary: 'Whether the pattern matches in the results of enough calls in the turn.',
  range: '0 or 1',
  params: {
    tool: anyTool,
    pattern: {
      schema: { type: 'string', minLength: 1 },
      required: true,
      description: 'A pattern, as of `regex`.',
    },
    occurrence,
    scope: scopeParam,
  },
  example: {
    params: { tool: 'lookup', pattern: '^Order \\d+' },
    context: { tool_calls: [paid] },
    score: 1,
  },
  findProblems: ({ pattern }) =>
    findPatternProblems({ result_matches: pattern }).map(({ message }) => ({ param: 'pattern', message })),
  run: (input) => scoreResults(input, { result_matches: input.params['pattern'] }),
};

/** Unscored only if results that timed out could change the score. */
async function scoreResults(input: CheckInput, wanted: CheckInput['params']): Promise<EvalOutcome> {
  const { tool, occurrence: needed } = input.params;
  const calls = judgedCallsOf(input, 'tool');
  const judged: CallCheck[] = [];
  for (const call of calls) judged.push(await checkCall(call, wanted, input.signal));
  const matches = judged.filter((one) => 'failures' in one && one.failures.length === 0).length;
  const data = Json.from({ match_count: matches, occurrence: needed, calls: calls.length });
  const summary = `${matches} of ${formatCallCount(calls.length)} returned such a result, ${needed} wanted`;
  if (matches >= Number(needed)) return scored(1, summary, data);
  const undecided = judged.filter((one) => 'timedOut' in one);
  const [first] = undecided;
  if (first !== undefined && matches + undecided.length >= Number(needed)) return unscored(first.timedOut);
  if (calls.length > 0) return scored(0, `${summary}: ${firstFailure(judged)}`, data);
  const called = listCalled(judgedCalls(input));
  return scored(0, tool === undefined ? called : `${tool} was not called; ${called}`, data);
}

function firstFailure(judged: readonly CallCheck[]): string {
  const failures = judged.flatMap((one) => ('failures' in one ? one.failures : []));
  return failures[0] ?? '';
}

const invariantFieldsPreserved: Check = {
  type: 'invariant_fields_preserved',
  aliases: [],
  family: 'tools',
  summary:
    'The share of the arguments that, after their first use, are in every later call of the tool, with any value, in the whole conversation.',
  range: 'ratio',
  params: {
    tool,
    fields: { schema: textsParam, required: true, description: 'Names of arguments.' },
  },
  example: {
    params: { tool: 'search', fields: ['city', 'date'] },
    context: {
      tool_calls: [
        { name: 'search', args: { city: 'Oslo', date: 'May 1' }, result: '', error: '', index: 1 },
        { name: 'search', args: { city: 'Oslo' }, result: '', error: '', index: 3 },
      ],
    },
    score: 0.5,
  },
  run: ({ params, request: { context } }) => {
    const calls = context.tool_calls.filter(({ name }) => name === params['tool']).map(argsOf);
    const fields = textsOf(params, 'fields');
    const lost = fields.filter((field) => isLost(calls, field));
    const preserved = fields.length - lost.length;
    const data = Json.from({ preserved, total: fields.length, lost, calls: calls.length });
    const among = `among ${formatCallCount(calls.length)} of ${params['tool']}`;
    const detail = lost.length === 0 ? `nothing was lost ${among}` : `lost: ${lost.join(', ')}, ${among}`;
    return scored(preserved / fields.length, detail, data);
  },
};

function isLost(calls: readonly Members[], field: string): boolean {
  const first = calls.findIndex((args) => Object.hasOwn(args, field));
  return first !== -1 && calls.slice(first).some((args) => !Object.hasOwn(args, field));
}

export const toolChecks: readonly Check[] = [
  toolsCalled,
  toolsNotCalled,
  toolArgs,
  toolCallsWithArgs,
  toolCallCount,
  toolCallSequence,
  toolCallChain,
  toolAntiPattern,
  toolNoRepeat,
  toolEfficiency,
  noToolErrors,
  toolResultIncludes,
  toolResultMatches,
  toolResultHasMedia,
  toolResultMediaType,
  toolsCalledSession,
  toolsNotCalledSession,
  toolArgsSession,
  toolArgsExcludedSession,
  invariantFieldsPreserved,
];
