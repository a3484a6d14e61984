import { RuntimeError } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { visible } from '../text/escape-invisible.ts';

/** Who decides, and why. */
export interface Decider {
  readonly by: string;
  readonly reason?: string | undefined;
}

/** A decision whose `by` and `reason` can be kept; a caller without types may hand in anything. Throws USAGE. */
export function requireDecision<Decision extends Decider>(given: Decision): Decision & { reason: string } {
  if (!isObject(given)) throw unusable('a decision is an object with `by`: who decides');
  const { reason = '' } = given;
  if (typeof reason !== 'string') throw unusable('`reason` is no text');
  requireDecider(given.by);
  return { ...given, reason };
}

/**
 * The name of whoever decides, as it was given. Throws USAGE unless it is one line in which there is something to read,
 * and nothing that cannot be seen: it stands in the record for good.
 */
export function requireDecider(by: unknown): string {
  if (typeof by !== 'string') throw unusable('a decision needs `by`, a text: who decides');
  if (by.trim() === '') throw unusable('`by` is empty, and a decision needs somebody who takes it');
  if (/[\n\t]/.test(by) || visible(by) !== by || !by.isWellFormed()) {
    throw unusable('`by` has control characters, line breaks or marks that nobody can see');
  }
  return by;
}

function unusable(message: string): RuntimeError {
  return new RuntimeError('USAGE', message, { hint: 'Give the name of the person who decides.' });
}
