import type { ErrorCode } from '../../src/base/errors.ts';
import type { Meaning } from './meaning.ts';
import { isHook, type Target } from './targets.ts';

export type Expected =
  /** The reply counts: a result, a score or an allow, or an observer received its event. */
  | { readonly outcome: 'answered' }
  /** A filter that allows by a documented rule of its dialect, which `causes` names. */
  | { readonly outcome: 'open'; readonly causes: readonly string[] }
  /** An allow or a question to a person, without a rule. */
  | { readonly outcome: 'no opinion' }
  /** A hook that makes the turn go on, as its dialect allows. */
  | { readonly outcome: 'forced' }
  /** `codes` is empty for an explicit denial, which has no code. */
  | { readonly outcome: 'denied'; readonly codes: readonly ErrorCode[] }
  | {
      readonly outcome: 'failed' | 'unscored' | 'swallowed' | 'recorded';
      readonly codes: readonly ErrorCode[];
    };

/** The only rule of the matrix: the outcome for the target of a fault with this meaning. */
export function expected(target: Target, meaning: Meaning): Expected {
  if (target.capability === 'tool') return called('failed', meaning);
  if (!isHook(target)) return called('unscored', meaning);
  if (target.mode === 'filter') return filtered(target, meaning);
  if (target.mode === 'shadow') return called('recorded', meaning);
  return called('swallowed', isUnheard(target, meaning) ? { kind: 'well' } : meaning);
}

/** The output of an observer's process is ignored, so only its exit can be a failure. A server's lines are checked. */
function isUnheard({ transport }: Target, meaning: Meaning): boolean {
  return transport !== 'server' && meaning.kind === 'failure' && meaning.codes.includes('REPLY_MALFORMED');
}

function called(outcome: 'failed' | 'unscored' | 'swallowed' | 'recorded', meaning: Meaning): Expected {
  return meaning.kind === 'failure' ? { outcome, codes: meaning.codes } : { outcome: 'answered' };
}

function filtered(target: Extract<Target, { capability: 'hook' }>, meaning: Meaning): Expected {
  switch (meaning.kind) {
    case 'well':
      return { outcome: 'answered' };
    case 'silent':
      return { outcome: 'no opinion' };
    case 'force':
      return { outcome: 'forced' };
    case 'denial':
      return { outcome: 'denied', codes: [] };
    case 'failure':
      return { outcome: 'denied', codes: meaning.codes };
    case 'open': {
      const isClosed = target.onFailure === 'deny' && target.point.isUnclosable !== true;
      return isClosed ? { outcome: 'denied', codes: [] } : { outcome: 'open', causes: meaning.causes };
    }
  }
}
