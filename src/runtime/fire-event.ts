import { isObject } from '../base/json/json.ts';
import { type EventInput, readEvent } from '../calls/hooks/event-input.ts';
import type { PointEvent } from '../calls/hooks/fire-point.ts';
import { passGate } from '../calls/hooks/gate.ts';
import { agentTools, resolveToolNames } from '../calls/tool-call/agent-tool.ts';
import { toDecisionDocument } from '../calls/tool-call/document.ts';
import { nextEventId } from '../contract/call-id.ts';
import type { DecisionDocument } from '../contract/document.ts';
import type { FireOptions } from './api.ts';
import type { WiredRuntime } from './stages/wire.ts';

/** Takes an event, or a point of a foreign dialect, through its hooks. Throws EVENT_INVALID. */
export async function fireEvent(
  {
    links,
    groups,
    tools,
    declared,
    checkArgs,
  }: Pick<WiredRuntime, 'links' | 'groups' | 'tools' | 'declared' | 'checkArgs'>,
  event: EventInput | PointEvent,
  { signal, onHear, wholeFaults }: FireOptions = {},
): Promise<DecisionDocument> {
  const call = nextEventId();
  if (!isPointEvent(event)) {
    const resolved = resolveToolNames(readEvent(event), agentTools(declared, links));
    const { decision } = await passGate(links, resolved, { call, signal, check: checkArgs, onHear });
    return toDecisionDocument(decision, { wholeFaults });
  }
  const { fireForeignPoint } = await import('./foreign-point.ts');
  const host = { tool_count: tools.size };
  const decision = await fireForeignPoint(event, { groups, call, signal, host, onHear });
  return toDecisionDocument(decision, { wholeFaults });
}

/** A caller without types may hand in anything. */
function isPointEvent(event: EventInput | PointEvent): event is PointEvent {
  return isObject(event) && 'dialect' in event;
}
