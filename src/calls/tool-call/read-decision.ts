import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { PendingCall, PendingDecision } from '../../contract/approval.ts';
import { requireDecider } from './decider.ts';
import { whyNotForQuorum } from './quorum.ts';
import { readGivenArgs } from './tool-args.ts';

/**
 * Reads the decision that the `ask` callback returned: approved (with edited arguments as an object or JSON
 * text, if any), rejected, or responded. Throws USAGE for anything else, and ARGS_INVALID.
 */
export function readPendingDecision(pending: PendingCall, given: unknown): PendingDecision {
  const decision = readDecision(pending, given);
  const refusal = whyNotForQuorum(pending, decision);
  if (refusal !== undefined) throw refusal;
  return decision;
}

function readDecision({ tool }: PendingCall, given: unknown): PendingDecision {
  if (!isObject(given)) throw unusable('it is no object');
  const { kind, reason = '', args, result } = given;
  const by = requireDecider(given['by']);
  if (typeof reason !== 'string') throw unusable('`reason` is no text');
  switch (kind) {
    case 'approved': {
      const edited = args === undefined || args === null ? null : readGivenArgs(tool, args);
      return { kind, args: edited, by, reason };
    }
    case 'rejected':
      return { kind, by, reason };
    case 'responded':
      if (result === undefined) throw unusable('it has no `result`');
      return { kind, result: Json.from(result), by, reason };
    default:
      throw unusable('`kind` is not approved, rejected or responded');
  }
}

function unusable(why: string): RuntimeError {
  return new RuntimeError('USAGE', `the ruling cannot be used: ${why}`);
}
