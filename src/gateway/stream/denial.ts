import type { Phase } from '../../contract/hook.ts';
import type { Refusal as GuardRefusal } from '../../models/guard/guard-outcome.ts';
import type { Refusal } from '../wire/refusal.ts';

/**
 * What a client is told when hooks let something not pass: 400 `content_filter` for a denial, 503 `guard_failed` when a
 * hook failed or could not be asked. It quotes nothing but the hook's own words.
 */
export function denialOf({ error, decision }: GuardRefusal, phase: Phase): Refusal {
  const { verdict, hook } = decision;
  // What no hook has decided is a fault of asking.
  const isFault = decision.error !== undefined || hook === null;
  return {
    ...(isFault ? { status: 503, code: 'guard_failed' } : { status: 400, code: 'content_filter' }),
    message: error.message,
    isRetryable: false,
    verdict: { verdict, hook, phase },
  };
}
