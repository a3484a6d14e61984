import { isSameByValue } from '../../../base/json/equal.ts';
import { Json } from '../../../base/json/json.ts';
import { tryParseLossless } from '../../../base/json/parse.ts';
import { type EvalOutcome, type EvalToolCall, scored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamSpec } from '../check.ts';
import { argsOf, findMismatches, formatValue } from './call-arguments.ts';
import { exactParam, type Members } from './exact-values.ts';
import { judgedCalls, scopeParam } from './judged-calls.ts';
import { toolName } from './tool-params.ts';
import { listCalled } from './wording.ts';

const someMembers = { type: 'object', minProperties: 1 };

const expectedArgs: ParamSpec = {
  schema: someMembers,
  required: true,
  description:
    'Arguments and their values, compared as JSON with all digits; further arguments of the call do not matter.',
};

const refund = { name: 'refund', args: { order: 7, amount: 12.5 }, result: 'ok', error: '', index: 1 };

export const toolArgs: Check = {
  type: 'tool_args',
  aliases: [],
  family: 'tools',
  summary: 'Whether a call of the tool in the turn has the arguments.',
  range: '0 or 1',
  params: { tool_name: toolName, expected_args: expectedArgs, scope: scopeParam },
  example: {
    params: { tool_name: 'refund', expected_args: { order: 7 } },
    context: { tool_calls: [refund] },
    score: 1,
  },
  run: (input) => scoreArgs(input, judgedCalls(input)),
};

export const toolArgsSession: Check = {
  type: 'tool_args_session',
  aliases: [],
  family: 'tools',
  summary: 'Whether a call of the tool in the whole conversation has the arguments.',
  range: '0 or 1',
  params: { tool_name: toolName, expected_args: expectedArgs },
  example: {
    params: { tool_name: 'refund', expected_args: { order: 8 } },
    context: { tool_calls: [refund] },
    score: 0,
  },
  run: (input) => scoreArgs(input, input.request.context.tool_calls),
};

export const toolArgsExcludedSession: Check = {
  type: 'tool_args_excluded_session',
  aliases: ['tools_not_called_with_args'],
  family: 'tools',
  summary:
    'Whether no call of the tool in the whole conversation has one of the values; the text `"7"` counts as the number 7.',
  range: '0 or 1',
  params: {
    tool_name: toolName,
    excluded_args: {
      schema: someMembers,
      description: 'Arguments, each with a value that it must not have.',
    },
    forbidden_args: {
      schema: someMembers,
      description: 'Arguments, each with a value or a list of values that it must not have.',
    },
  },
  anyOf: [['excluded_args', 'forbidden_args']],
  example: {
    params: { tool_name: 'refund', forbidden_args: { order: [7, 8] } },
    context: { tool_calls: [refund] },
    score: 0,
  },
  run: (input) => {
    const calls = input.request.context.tool_calls.filter(({ name }) => name === input.params['tool_name']);
    const violations = calls.flatMap((call) => findExcluded(argsOf(call), listExcluded(input)));
    const data = Json.from({ violations });
    return violations.length > 0
      ? scored(0, `${input.params['tool_name']} was called with ${violations.join('; ')}`, data)
      : scored(1, `no call of ${input.params['tool_name']} has them`, data);
  },
};

function scoreArgs(input: CheckInput, calls: readonly EvalToolCall[]): EvalOutcome {
  const name = String(input.params['tool_name']);
  const expected = exactParam(input, 'expected_args');
  const named = calls.filter((call) => call.name === name);
  const differences = named.map((call) => findMismatches(argsOf(call), expected));
  const data = Json.from({ matched: differences.some(({ length }) => length === 0), calls: named.length });
  const [nearest] = differences.toSorted((one, other) => one.length - other.length);
  if (nearest === undefined) return scored(0, `${name} was not called; ${listCalled(calls)}`, data);
  if (nearest.length === 0) return scored(1, `${name} was called with the arguments`, data);
  return scored(0, `${name} was not called with the arguments: ${nearest.join('; ')}`, data);
}

type Excluded = readonly (readonly [name: string, value: unknown])[];

function listExcluded(input: CheckInput): Excluded {
  const values = Object.entries(exactParam(input, 'forbidden_args'));
  return [
    ...Object.entries(exactParam(input, 'excluded_args')),
    ...values.flatMap(([name, value]) => [value].flat().map((one): [string, unknown] => [name, one])),
  ];
}

function findExcluded(args: Members, excluded: Excluded): string[] {
  return excluded
    .filter(([name, value]) => Object.hasOwn(args, name) && isSpelledAlike(args[name], value))
    .map(([name]) => `${name} ${formatValue(args[name])}`);
}

/** A model must not pass by writing a number as text. */
function isSpelledAlike(one: unknown, other: unknown): boolean {
  return isSameByValue(readScalar(one), readScalar(other));
}

function readScalar(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*(?:-?\d|true|false|null)/.test(value)) return value;
  const scalar = tryParseLossless(value);
  return scalar === undefined ? value : scalar;
}
