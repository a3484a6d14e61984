import { Json } from '../../../base/json/json.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { argsOf, findMismatches } from './call-arguments.ts';
import { checkCall, conditionParams, findPatternProblems } from './call-conditions.ts';
import { exactParam, type Members } from './exact-values.ts';
import { judgedCalls, judgedCallsOf, scopeParam } from './judged-calls.ts';
import { anyToolName } from './tool-params.ts';
import { listCalled } from './wording.ts';

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
    return scored(1, `every call is as wanted; ${listCalled(calls)}`, data);
  }
  const shown = violations.slice(0, MAX_VIOLATIONS).map(({ tool, failure }) => `${tool}: ${failure}`);
  const rest = violations.length - shown.length;
  return scored(0, `${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`, data);
}

const MAX_VIOLATIONS = 10;

/** Mismatches where an expected null accepts any value of an argument that is present. */
function findMismatchesWithNull(args: Members, expected: Members): readonly string[] {
  const entries = Object.entries(expected);
  const missing = entries.filter(([name, value]) => value === null && !Object.hasOwn(args, name));
  const valued = Object.fromEntries(entries.filter(([, value]) => value !== null));
  return [...missing.map(([name]) => `${name} is missing`), ...findMismatches(args, valued)];
}
