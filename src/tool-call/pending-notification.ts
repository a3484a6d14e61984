import type { PendingCall } from '../contract/approval.ts';
import type { HookContext } from '../contract/turn.ts';
import { passGate } from '../hooks/gate.ts';
import { type Call, requestOf } from './callable-tool.ts';

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
