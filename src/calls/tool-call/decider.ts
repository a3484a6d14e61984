import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { CallableTool } from './callable-tool.ts';

/** Who takes a decision about a pending call or a run, and why. */
export interface DecisionInput {
  readonly by: string;
  readonly reason?: string | undefined;
}

/** The decision with `by` and `reason` checked, `reason` '' by default. Throws USAGE for anything else. */
export function requireDecision<Decision extends DecisionInput>(
  given: Decision,
): Decision & { reason: string } {
  if (!isObject(given)) throw unusable('a decision is an object with `by`: who decides');
  const { reason = '' } = given;
  if (typeof reason !== 'string') throw unusable('`reason` is no text');
  requireDecider(given.by);
  return { ...given, reason };
}

/**
 * Returns the name of the person who decides, unchanged. Throws USAGE unless it is one non-blank line without
 * control or invisible characters, since the record keeps it.
 */
export function requireDecider(by: unknown): string {
  if (typeof by !== 'string') throw unusable('a decision needs `by`, a text: who decides');
  if (by.trim() === '') throw unusable('`by` is empty, and a decision needs somebody who takes it');
  if (/[\n\t]/.test(by) || escapeInvisible(by) !== by || !by.isWellFormed()) {
    throw unusable('`by` has control characters, line breaks or marks that nobody can see');
  }
  return by;
}

/** Why this person may not decide about calls of the tool; undefined where they may. */
export function whyNoApprover(
  { name, approval }: Pick<CallableTool, 'name' | 'approval'>,
  by: string,
): RuntimeError | undefined {
  const { by: approvers } = approval ?? {};
  if (approvers === undefined || approvers.includes(by)) return undefined;
  const message = `"${by}" may not decide about tool "${name}"`;
  return new RuntimeError('USAGE', message, {
    hint: `Its approval names ${approvers.join(', ')}: use --by.`,
  });
}

function unusable(message: string): RuntimeError {
  return new RuntimeError('USAGE', message, { hint: 'Give the name of the person who decides.' });
}
