import type { PendingRecord } from '../../contract/approval.ts';
import { RefusedCall } from '../wire/refusal.ts';

/** The refusal of an answer whose calls wait: names them, and says how it goes on. */
export function pendingRefusal(records: readonly PendingRecord[]): RefusedCall {
  const open = records.filter(({ ruling }) => ruling === null);
  const said = open.map(({ id, tool, message }) => `Tool "${tool}" waits for a person (${id}): ${message}`);
  const how =
    open.length === 0
      ? 'An equal request waits for a person already.'
      : `Decide with ${open.map(({ id }) => `"signalbox pending approve ${id}"`).join(', ')}, or reject.`;
  return new RefusedCall({
    status: 400,
    code: 'pending_approval',
    message: [...said, how, 'Then send the same request again.'].join('\n'),
    isRetryable: false,
    verdict: { verdict: 'ask', hook: open[0]?.hook ?? null, phase: 'before_execution' },
    details: { pending: open.map(toNotice) },
  });
}

function toNotice({ id, tool, callId, reason, message, expiresAt }: PendingRecord) {
  const expires_at = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return { id, tool, call_id: callId, reason, message, expires_at };
}
