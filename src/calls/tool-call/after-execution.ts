import { type Fault, isCancelled } from '../../base/errors.ts';
import type { EndedCall, HookEvent, ToolHookResponse } from '../../contract/hook.ts';
import { failed, type ToolFailed, type ToolOk } from '../../contract/tool.ts';
import { mergeMetadata } from '../../dialects/metadata.ts';
import { type ChainResult, type Link, passGate } from '../hooks/gate.ts';
import { isHeard } from '../hooks/links.ts';
import {
  type Call,
  type CallResult,
  deniedResult,
  type FilteredCall,
  modelText,
  namesOf,
  requestOf,
  withContent,
} from './callable-tool.ts';

export function isHeardAfter(links: readonly Link[]): boolean {
  return phasesAfter.some((phase) => isHeard(links, phase));
}

const phasesAfter = ['after_execution', 'finished', 'returned'] as const;

/**
 * Passes an outcome through the after_execution filters. `answeredBy`: the dialect whose hook answered in the tool's
 * place; its hooks are skipped.
 */
export async function passAfterHooks(
  before: FilteredCall,
  outcome: ToolOk | ToolFailed,
  { latencyMs, answeredBy = null }: { readonly latencyMs: number; readonly answeredBy?: string | null },
): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, hookContext } = call;
  const asked = requestOf(call, args);
  // A hook's answer for an unknown tool is an ordinary result.
  const request = answeredBy === null ? asked : { ...asked, isUnknown: undefined };
  const response: ToolHookResponse = {
    name: tool.name,
    call_id: callId,
    content: modelText(tool.name, outcome),
    error: outcome.status === 'failed' ? outcome.error.message : '',
    latency_ms: latencyMs,
    ...(outcome.status === 'ok' && { result: outcome.result }),
  };
  let hasFilterAnswered = false;
  const onAnswer = () => {
    hasFilterAnswered = true;
  };
  const links =
    answeredBy === null
      ? tool.links
      : tool.links.filter((link) => !('group' in link) || link.group.dialect.name !== answeredBy);
  const chain = await passGate(
    links,
    { hook: 'tool', phase: 'after_execution', request, response },
    { call: callId, signal, hookContext, onAnswer },
  );
  const visibleOutcome =
    hasFilterAnswered && outcome.status === 'failed' ? failed(withoutPeerText(outcome.error)) : outcome;
  const result = { ...toCallResult(before, visibleOutcome, chain), callId };
  if (!isCancelled(chain.decision.error))
    await notifyFinished(before, result, { response, stage: 'after_execution' });
  return result;
}

function toCallResult(
  before: FilteredCall,
  outcome: ToolOk | ToolFailed,
  { decision, event }: ChainResult,
): CallResult {
  const { verdict } = decision;
  if (verdict !== 'allow' && verdict !== 'modify') return deniedResult(namesOf(before.call), decision);
  const metadata = mergeMetadata([before.metadata, decision.metadata]);
  const context = [...before.context, ...decision.context];
  const passed = { call: before.call, metadata, context };
  if (verdict !== 'modify' || event.phase !== 'after_execution') return passedResult(passed, outcome);
  const { content } = event.response;
  return passedResult(passed, withContent(outcome, content), content);
}

export function passedResult(
  { call, metadata, context }: Pick<FilteredCall, 'call' | 'metadata' | 'context'>,
  outcome: ToolOk | ToolFailed,
  content = modelText(call.tool.name, outcome),
): CallResult {
  const { callId } = call;
  if (context.length === 0) return { outcome, callId, content, metadata };
  return { outcome, callId, content: [content, ...context].join('\n'), metadata, context };
}

export async function notifyFinished(
  { call, asked, args }: FilteredCall,
  { outcome, content }: CallResult,
  { response, stage }: Pick<EndedCall, 'response'> & Pick<NonNullable<EndedCall['denial']>, 'stage'>,
): Promise<void> {
  if (outcome.status === 'pending') return;
  const { links } = call.tool;
  if (!isHeard(links, 'finished') && !isHeard(links, 'returned')) return;
  const request = requestOf(call, args);
  const final = { ...response, content };
  const { status } = outcome;
  const isFlow = call.tool.flow !== undefined;
  const denial = outcome.status === 'denied' ? { reason: outcome.reason, stage } : undefined;
  const event = { hook: 'tool', request, asked, response: final, status, denial, isFlow } as const;
  await notifyHooks(call, { ...event, phase: 'finished' });
  const notifyReturned = () => notifyHooks(call, { ...event, phase: 'returned' });
  if (call.deferNotification === undefined) await notifyReturned();
  else call.deferNotification(notifyReturned);
}

/** Waits for hooks whose dialect requires it, or until the call is aborted. */
export async function notifyHooks(
  { tool, callId, hookContext, signal }: Call,
  event: HookEvent,
): Promise<void> {
  await passGate(tool.links, event, { call: callId, hookContext, signal });
}

/** Keys of `details` whose values Signalbox writes. */
const ownKeys = new Set(['signal', 'stage', 'problem']);

/** Removes text of the peer, such as stderr or a malformed reply, because it has passed no filter. */
function withoutPeerText({ code, message, hint, details = {} }: Fault): Fault {
  const kept = Object.entries(details).filter(
    ([key, value]) => value === null || /^(?:number|boolean)$/.test(typeof value) || ownKeys.has(key),
  );
  return { code, message, hint, ...(kept.length > 0 && { details: Object.fromEntries(kept) }) };
}
