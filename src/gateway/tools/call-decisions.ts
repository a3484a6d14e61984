import type { Json } from '../../base/json/json.ts';
import type { HookApproval } from '../../calls/tool-call/before-execution.ts';
import { type CallResult, pendingResult } from '../../calls/tool-call/callable-tool.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import { noMetadata } from '../../dialects/metadata.ts';

/** What people have decided about a call so far. */
export interface CallHistory {
  /** The last decision; undefined before the first. */
  readonly last: DecidedRecord | undefined;
  /** How often the call has waited. */
  readonly round: number;
  /** Arguments that a person has edited; null: none. */
  readonly editedArgs: Json | null;
  readonly approvals: readonly HookApproval[];
}

export const noHistory: CallHistory = { last: undefined, round: 0, editedArgs: null, approvals: [] };

/** The history with one decision more. */
export function withDecision(before: CallHistory, record: DecidedRecord): CallHistory {
  const { hook, args, ruling } = record;
  const edited = ruling.kind === 'approved' ? ruling.args : null;
  const isApproved = ruling.kind === 'approved' && hook !== null;
  return {
    last: record,
    round: before.round + 1,
    editedArgs: edited ?? before.editedArgs,
    approvals: [...before.approvals, ...(isApproved ? [{ hook, args: edited ?? args }] : [])],
  };
}

export function isDecided(record: PendingRecord): record is DecidedRecord {
  return record.ruling !== null;
}

/** The record of this step that follows the one of `previous`, if the call has waited that often. */
export function findRecord(
  records: readonly PendingRecord[],
  step: string,
  previous: string | null,
): PendingRecord | undefined {
  return records.find((record) => record.step === step && record.previous === previous);
}

/** The result of a call that waits, from what is kept of it: its hooks are not asked a second time. */
export function resultOfRecord(record: PendingCall): CallResult {
  const { tool, callId, origin, hook, args, reason, message, members } = record;
  const paused = { status: 'pending', origin, hook, args, reason, message, members } as const;
  return pendingResult({ tool, callId }, { ...paused, expiresMs: null }, noMetadata);
}
