import { shorten } from '../../../base/text/shorten.ts';
import { searchFolded } from '../../../base/text/words.ts';
import type { EvalToolCall } from '../../../contract/eval.ts';
import type { ParamProblem, ParamSpec, Params } from '../check.ts';
import { findPatternProblem, matchPattern } from '../regex/pattern-match.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { argsOf, formatValue, textOfArg } from './call-arguments.ts';
import { flagParam } from './tool-params.ts';

/** The params that set conditions for one call. */
export const conditionParams = {
  args_match: {
    schema: { type: 'object', additionalProperties: { type: 'string', minLength: 1 } },
    description: 'Arguments, each with a pattern for its text, or for the JSON text of what is no text.',
  },
  result_includes: { schema: textsParam, description: 'Texts that must stand in the result, in any case.' },
  result_matches: {
    schema: { type: 'string', minLength: 1 },
    description: 'A pattern that must be found in the result.',
  },
  no_error: flagParam('Whether the call must not have failed.'),
} as const satisfies Readonly<Record<string, ParamSpec>>;

/** The conditions that a call fails, one phrase each; or why that is not known. */
export type CallCheck = { readonly failures: readonly string[] } | { readonly timedOut: string };

/** Checks a call against these params. Rejects with ABORTED. */
export async function checkCall(call: EvalToolCall, params: Params, signal: AbortSignal): Promise<CallCheck> {
  const failures = [...findError(call, params), ...findMissingTexts(call, params)];
  for (const { pattern, text, failure } of listMatches(call, params)) {
    const match = text === undefined ? { matched: false } : await matchPattern(pattern, text, signal);
    if ('timedOut' in match) return match;
    if (!match.matched) failures.push(failure);
  }
  return { failures };
}

/** Patterns that cannot be used; `where` names the place in the params. */
export function findPatternProblems(params: Params, where?: string): ParamProblem[] {
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
  /** Undefined of an argument that is not there. */
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
