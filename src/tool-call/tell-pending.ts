import type { PendingCall } from '../contract/approval.ts';
import type { Scene } from '../contract/turn.ts';
import { passGate } from '../hooks/gate.ts';
import { type Call, requestOf } from './callable.ts';

/** Tells hooks of a call that waits for a person, once it is kept and has its id. */
export async function tellPending(
  { tool, callId, toolUseId }: Pick<Call, 'tool' | 'callId' | 'toolUseId'>,
  { id, args, message }: PendingCall,
  scene: Scene,
): Promise<void> {
  const request = requestOf({ tool, callId, toolUseId }, args);
  const event = { hook: 'tool', phase: 'pending', request, id, message } as const;
  await passGate(tool.links, event, { call: callId, scene });
}
