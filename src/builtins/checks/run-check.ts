import { RuntimeError, toFault } from '../../base/errors.ts';
import { unknownName } from '../../base/yaml/wording.ts';
import { type EvalOutcome, type EvalRequest, unscored } from '../../contract/eval.ts';
import type { Check, CheckInput } from './check.ts';
import type { ParamFinding } from './param-names.ts';
import { readParams } from './params.ts';
import { checkTypes, findCheck } from './registry.ts';

/** Runs a built-in check. Every fault is unscored, never 0; never rejects. */
export async function runCheck(
  type: string,
  request: EvalRequest,
  dependencies: Pick<CheckInput, 'signal' | 'judge' | 'embed'>,
): Promise<EvalOutcome> {
  try {
    const check = findCheck(type) ?? unknownName('eval', type, checkTypes());
    if (dependencies.signal.aborted) {
      throw new RuntimeError('ABORTED', `the check ${type} was aborted`, {
        cause: dependencies.signal.reason,
      });
    }
    const read = readParams(check, request.params);
    if ('problems' in read) throw badParams(type, read.problems);
    return requireScore(check, await check.run({ ...dependencies, params: read.params, request }));
  } catch (thrown) {
    const fault = toFault(thrown);
    return unscored(fault.message, fault);
  }
}

/** Throws USAGE if the check does not accept the params. Ignores types that are not built in. */
export function requireParams({ type, params }: Pick<EvalRequest, 'type' | 'params'>): void {
  const check = findCheck(type);
  const read = check && readParams(check, params);
  if (read !== undefined && 'problems' in read) throw badParams(type, read.problems);
}

function badParams(type: string, problems: readonly ParamFinding[]): RuntimeError {
  const hint = problems.find((problem) => problem.hint !== undefined)?.hint;
  return new RuntimeError(
    'USAGE',
    `the params of ${type} are not valid: ${problems.map(formatFinding).join('; ')}`,
    {
      hint: hint ?? 'docs/reference/checks.md lists the params of every check.',
    },
  );
}

function formatFinding({ path, message }: ParamFinding): string {
  const segments = path.map((part, depth) =>
    typeof part === 'number' ? `[${part}]` : depth === 0 ? part : `.${part}`,
  );
  return `${segments.join('')} ${message}`.trim();
}

function requireScore(check: Check, outcome: EvalOutcome): EvalOutcome {
  if (outcome.status === 'unscored' || (outcome.score >= 0 && outcome.score <= 1)) return outcome;
  throw new RuntimeError(
    'INTERNAL',
    `${check.type} returned the score ${outcome.score}, which is outside 0..1`,
  );
}
