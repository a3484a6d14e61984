import { scored, unscored } from '../../contract/eval.ts';
import { Json } from '../../json/json.ts';
import type { Asked, Check } from '../check.ts';
import { argsOf, findMismatches } from './args.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './calls.ts';
import { conditionParams, findPatternProblems, judgeCall } from './conditions.ts';
import { exactParam, type Members } from './exact.ts';
import { anyToolName } from './tool-params.ts';
import { listCalled } from './words.ts';

export const toolCallsWithArgs: Check = {
  type: 'tool_calls_with_args',
  aliases: [],
  family: 'tools',
  summary:
    'Whether every call of the tool in the turn is as wanted; 0 when the tool that is named was not called.',
  range: '0 or 1',
  params: {
    tool_name: anyToolName,
    expected_args: {
      schema: { type: 'object', minProperties: 1 },
      description:
        'Arguments and their values, compared as JSON to the last digit; null stands for any value, and further arguments do not matter.',
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
  run: async (asked) => {
    const calls = judgedCallsOf(asked, 'tool_name');
    const name = asked.params['tool_name'];
    if (name !== undefined && calls.length === 0) {
      const called = listCalled(judgedCalls(asked));
      return scored(0, `${name} was not called; ${called}`, Json.from({ matching_calls: 0, violations: [] }));
    }
    return scoreCalls(asked, calls);
  },
};

async function scoreCalls(asked: Asked, calls: ReturnType<typeof judgedCallsOf>) {
  const expected = exactParam(asked, 'expected_args');
  const violations: { tool: string; index: number; failure: string }[] = [];
  for (const call of calls) {
    const judged = await judgeCall(call, asked.params, asked.signal);
    if ('timedOut' in judged) return unscored(judged.timedOut);
    const failures = [...findMismatchesBut(argsOf(call), expected), ...judged.failures];
    violations.push(...failures.map((failure) => ({ tool: call.name, index: call.index, failure })));
  }
  const data = Json.from({ matching_calls: calls.length, violations });
  if (violations.length === 0) {
    return scored(1, `every call is as wanted; ${listCalled(calls)}`, data);
  }
  const told = violations.slice(0, MOST_TOLD).map(({ tool, failure }) => `${tool}: ${failure}`);
  const rest = violations.length - told.length;
  return scored(0, `${told.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`, data);
}

const MOST_TOLD = 10;

/** Null asks for no more than the argument. */
function findMismatchesBut(args: Members, expected: Members): readonly string[] {
  const entries = Object.entries(expected);
  const missing = entries.filter(([name, value]) => value === null && !Object.hasOwn(args, name));
  const valued = Object.fromEntries(entries.filter(([, value]) => value !== null));
  return [...missing.map(([name]) => `${name} is missing`), ...findMismatches(args, valued)];
}
