import type { CallResult } from '../../calls/hooks/call-result.ts';
import { RefusedCall } from '../wire/refusal.ts';

/** The text in the place of a call that was stopped. Throws RefusedCall when a hook has ended more than the call. */
export function textOfStopped(tool: string, { outcome, content }: CallResult): string {
  if (outcome.status === 'ok') return `Tool "${tool}" was answered in its place: ${content}`;
  if (outcome.status !== 'denied') return content;
  const { hook, abort, reason } = outcome;
  if (abort !== undefined) throw abortedBy(hook, reason);
  return content;
}

function abortedBy(hook: string, reason: string): RefusedCall {
  return new RefusedCall({
    status: 400,
    code: 'content_filter',
    message: `hook "${hook}" ended the turn: ${reason}`,
    isRetryable: false,
    verdict: { verdict: 'abort', hook, phase: 'before_execution' },
  });
}
