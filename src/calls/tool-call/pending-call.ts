import { createHash } from 'node:crypto';
import type { Json } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { CallPaused } from '../hooks/call-result.ts';
import { passGate } from '../hooks/gate.ts';
import { type Call, type CallableTool, requestOf } from './callable-tool.ts';
import { quorumOf } from './quorum.ts';

/** A tool call of a run. */
export interface PlannedCall {
  /** Its path in the journal. */
  readonly name: string;
  readonly tool: CallableTool;
  readonly args: unknown;
  /** The same with what is long in it apart, for the journal. */
  readonly composed?: Json;
  readonly callId: string;
  /** The retry of the run in which it is made. Default: 0. */
  readonly edition?: number | undefined;
  /** The model's own id for it, if a model asked. */
  readonly toolUseId?: string | undefined;
  /** What its idempotency key is made of. Default: `name`. */
  readonly key?: string | undefined;
}

/** The record of a pending call that has been decided. `ruling` is the stored name of the decision. */
export type DecidedRecord = PendingRecord & { readonly ruling: NonNullable<PendingRecord['ruling']> };

interface Pause {
  readonly runId: string;
  readonly outcome: CallPaused;
  /** How often the call has waited, this time included. */
  readonly round: number;
  /** The id of the pending record before this one. */
  readonly previous: string | null;
}

/** The record of a call that waits for a person. */
export function toPendingCall(
  { name, tool, callId, edition = 0 }: PlannedCall,
  { runId, outcome, round, previous }: Pause,
): PendingCall {
  const { origin, hook, args, reason, message, members, expiresMs } = outcome;
  const createdAt = Date.now();
  const quorum = quorumOf(tool);
  return {
    ...{
      id: pendingId(runId, edition === 0 ? name : `${name}~${edition}`, round),
      runId,
      step: name,
      callId,
      tool: tool.name,
      args,
    },
    ...{ origin, hook, reason, message, members, previous, createdAt },
    expiresAt: expiresMs === null ? null : createdAt + expiresMs,
    ...(quorum > 1 && { quorum }),
  };
}

/** A deterministic id, so that a crash between two writes creates no second pending record. */
export function pendingId(runId: string, name: string, round: number): string {
  return `pending_${createHash('sha256').update(`${runId}\n${name}\n${round}`).digest('hex').slice(0, 16)}`;
}

/** Notifies the hooks of a pending call, after it was stored. */
export async function notifyPending(
  { tool, callId, toolUseId }: Pick<Call, 'tool' | 'callId' | 'toolUseId'>,
  { id, args, message }: PendingCall,
  hookContext: HookContext,
): Promise<void> {
  const request = requestOf({ tool, callId, toolUseId }, args);
  const event = { hook: 'tool', phase: 'pending', request, id, message } as const;
  await passGate(tool.links, event, { call: callId, hookContext });
}
