import type { ApprovalRule } from '../config/config.ts';
import { toRuntimeError } from '../errors.ts';
import { compileExpressions } from '../expression/expression.ts';
import { type Json, parseLossless, stringifyJson } from '../json/json.ts';

/** What a person is asked before a tool runs; `expiresMs` null: for ever. */
export interface ApprovalNeeded {
  readonly reason: string;
  readonly message: string;
  readonly expiresMs: number | null;
}

/** Says whether these arguments need a person's consent. Never throws: what cannot be told needs it. */
export interface AskApproval {
  (args: Json): ApprovalNeeded | undefined;
  /** How long a decision about this tool may take; null: for ever. */
  readonly expiresMs: number | null;
}

/** The rule of one tool, its expressions compiled. Throws ExpressionError. */
export function compileApproval(tool: string, rule: ApprovalRule): AskApproval {
  const expiresMs = rule.expiresMs ?? null;
  const condition = rule.when === undefined ? undefined : compileExpressions(rule.when, ['args']);
  const text = compileExpressions(rule.message ?? `Tool "${tool}" needs approval.`, ['args']);
  const ask = (args: Json): ApprovalNeeded | undefined => {
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
  return Object.assign(ask, { expiresMs });
}

function messageOf(tool: string, evaluate: () => unknown): string {
  try {
    const message = evaluate();
    return typeof message === 'string' ? message : stringifyJson(message);
  } catch (error) {
    return `Tool "${tool}" needs approval (its message failed: ${toRuntimeError(error).message}).`;
  }
}
