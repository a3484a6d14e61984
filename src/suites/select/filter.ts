import { catalogue, RuntimeError } from '../../base/errors.ts';
import { type CompiledCode, compileCode, withVariables } from '../../base/expression/cel.ts';
import { ExpressionError } from '../../base/expression/expression.ts';
import { yieldAfterLongWork } from '../../base/time/time-limit.ts';
import { describeRowValue } from '../dataset-error.ts';
import type { Candidate, CaseCandidate, SelectionStage } from './selection.ts';

/**
 * Takes the cases for which a CEL expression over `case` is true; a case on which it fails becomes a
 * problem. Throws USAGE for text that cannot be compiled or never gives true or false.
 */
export function compileFilter(filter: string): SelectionStage {
  const code = compile(filter);
  if (!['bool', 'dyn', 'optional'].some((known) => code.type.startsWith(known))) {
    throw badFilter(filter, `gives a value of type ${code.type}, not true or false`);
  }
  return async function* (candidates) {
    for await (const candidate of candidates) {
      await yieldAfterLongWork();
      const passed = 'problem' in candidate ? candidate : judge(candidate, code, filter);
      if (passed !== undefined) yield passed;
    }
  };
}

function compile(filter: string): CompiledCode {
  try {
    return compileCode(filter, withVariables(['case']), []);
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown;
    throw badFilter(filter, 'cannot be used', thrown);
  }
}

function badFilter(filter: string, why: string, cause?: Error): RuntimeError {
  const reason = cause === undefined ? '' : `: ${cause.message}`;
  return new RuntimeError('USAGE', `the filter \`${filter}\` ${why}${reason}`, {
    hint: 'A filter is CEL over `case`, the row, without ${}: `case.lang == "de" && case.turns > 2`.',
    cause,
  });
}

/** Undefined for a case that the filter drops. */
function judge(candidate: CaseCandidate, code: CompiledCode, filter: string): Candidate | undefined {
  const { row, value } = candidate;
  try {
    const verdict = code.evaluate({ case: value });
    if (typeof verdict === 'boolean') return verdict ? candidate : undefined;
    const message = `the filter \`${filter}\` gives ${describeRowValue(verdict)}, not true or false`;
    return { row, problem: { message } };
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'EXPRESSION_FAILED') throw error;
    const { message, hint, code: failed } = error;
    const problem = { message: `the filter fails: ${message}` };
    return { row, problem: hint === catalogue[failed].hint ? problem : { ...problem, hint } };
  }
}
