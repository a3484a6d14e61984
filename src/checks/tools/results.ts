import { type EvalOutcome, scored, unscored } from '../../contract/eval.ts';
import { Json } from '../../json/json.ts';
import type { Asked, Check } from '../check.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './calls.ts';
import { findPatternProblems, type Judgement, judgeCall } from './conditions.ts';
import { anyTool, occurrence, resultPatterns } from './tool-params.ts';
import { listCalled, wordCalls } from './words.ts';

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
  run: (asked) => scoreResults(asked, { result_includes: asked.params['patterns'] }),
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
  run: (asked) => scoreResults(asked, { result_matches: asked.params['pattern'] }),
};

/** A result that cannot be judged matters only where those that can do not decide. */
async function scoreResults(asked: Asked, wanted: Asked['params']): Promise<EvalOutcome> {
  const { tool, occurrence: needed } = asked.params;
  const calls = judgedCallsOf(asked, 'tool');
  const judged: Judgement[] = [];
  for (const call of calls) judged.push(await judgeCall(call, wanted, asked.signal));
  const matches = judged.filter((one) => 'failures' in one && one.failures.length === 0).length;
  const data = Json.from({ match_count: matches, occurrence: needed, calls: calls.length });
  const told = `${matches} of ${wordCalls(calls.length)} gave such a result, ${needed} wanted`;
  if (matches >= Number(needed)) return scored(1, told, data);
  const undecided = judged.filter((one) => 'timedOut' in one);
  const [first] = undecided;
  if (first !== undefined && matches + undecided.length >= Number(needed)) return unscored(first.timedOut);
  if (calls.length > 0) return scored(0, `${told}: ${wordFirst(judged)}`, data);
  const called = listCalled(judgedCalls(asked));
  return scored(0, tool === undefined ? called : `${tool} was not called; ${called}`, data);
}

function wordFirst(judged: readonly Judgement[]): string {
  const failures = judged.flatMap((one) => ('failures' in one ? one.failures : []));
  return failures[0] ?? '';
}
