import { toRuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import { type Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import type { ApprovalRule } from '../../config/config.ts';

/** The approval a call needs: reason, message for the person, and time limit (`expiresMs` null: none). */
interface RequiredApproval {
  readonly reason: string;
  readonly message: string;
  readonly expiresMs: number | null;
}

/** The approval these arguments need, or undefined. Never throws: a rule that fails to evaluate needs one. */
export interface ApprovalCheck {
  (args: Json): RequiredApproval | undefined;
  /** How long a decision about this tool may take; null: no limit. */
  readonly expiresMs: number | null;
  /** Who may decide about calls of this tool; undefined: whoever has a name. */
  readonly by?: readonly string[] | undefined;
  /** How many of them must approve; undefined: one. */
  readonly quorum?: number | undefined;
}

/** The rule of one tool, its expressions compiled. Throws ExpressionError. */
export function compileApproval(tool: string, rule: ApprovalRule): ApprovalCheck {
  const expiresMs = rule.expiresMs ?? null;
  const condition = rule.when === undefined ? undefined : compileExpressions(rule.when, ['args']);
  const text = compileExpressions(rule.message ?? `Tool "${tool}" needs approval.`, ['args']);
  const ask = (args: Json): RequiredApproval | undefined => {
    const scope = { args: parseLossless(args.text) };
    let reason = 'the config requires approval';
    try {
      const needed = condition === undefined || condition.evaluate(scope);
      if (needed === false) return undefined;
      if (needed !== true) reason = `approval.when is ${stringifyJson(needed)}, neither true nor false`;
    } catch (error) {
      reason = `approval.when failed: ${toRuntimeError(error).message}`;
    }
    return { reason, message: messageOf(tool, () => text.evaluate(scope)), expiresMs };
  };
  return Object.assign(ask, { expiresMs, by: rule.by, quorum: rule.quorum });
}

function messageOf(tool: string, evaluate: () => unknown): string {
  try {
    const message = evaluate();
    return typeof message === 'string' ? message : stringifyJson(message);
  } catch (error) {
    return `Tool "${tool}" needs approval (its message failed: ${toRuntimeError(error).message}).`;
  }
}
