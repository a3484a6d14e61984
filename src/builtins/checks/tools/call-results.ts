import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { type CallCheck, checkCall, findPatternProblems } from './call-conditions.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './judged-calls.ts';
import { anyTool, occurrence, resultPatterns } from './tool-params.ts';
import { formatCallCount, listCalled } from './wording.ts';

const paid = { name: 'lookup', args: { order: 7 }, result: 'Order 7: PAID', error: '', index: 1 };

export const toolResultIncludes: Check = {
  type: 'tool_result_includes',
  aliases: [],
  family: 'tools',
  summary: 'Whether the results of enough calls in the turn hold all of the texts.',
  range: '0 or 1',
  params: { tool: anyTool, patterns: resultPatterns, occurrence, scope: scopeParam },
  example: {
    params: { tool: 'lookup', patterns: ['paid', 'order'] },
    context: { tool_calls: [paid] },
    score: 1,
  },
  run: (input) => scoreResults(input, { result_includes: input.params['patterns'] }),
};

export const toolResultMatches: Check = {
  type: 'tool_result_matches',
  aliases: [],
  family: 'tools',
  summary: 'Whether the pattern is found in the results of enough calls in the turn.',
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

/** Scores the results; unscored only when results that timed out could change the score. */
async function scoreResults(input: CheckInput, wanted: CheckInput['params']): Promise<EvalOutcome> {
  const { tool, occurrence: needed } = input.params;
  const calls = judgedCallsOf(input, 'tool');
  const judged: CallCheck[] = [];
  for (const call of calls) judged.push(await checkCall(call, wanted, input.signal));
  const matches = judged.filter((one) => 'failures' in one && one.failures.length === 0).length;
  const data = Json.from({ match_count: matches, occurrence: needed, calls: calls.length });
  const summary = `${matches} of ${formatCallCount(calls.length)} gave such a result, ${needed} wanted`;
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
