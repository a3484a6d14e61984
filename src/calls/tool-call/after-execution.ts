import { type Fault, isCancelled, toFault } from '../../base/errors.ts';
import type { SchemaCheck } from '../../base/yaml/schema-check.ts';
import type {
  Decision,
  EndedCall,
  HookEvent,
  ToolHookRequest,
  ToolHookResponse,
} from '../../contract/hook.ts';
import { failed, type ToolFailed, type ToolOk } from '../../contract/tool.ts';
import { mergeMetadata } from '../../dialects/metadata.ts';
import { type GateOptions, type Link, passGate } from '../hooks/gate.ts';
import { allowed } from '../hooks/hook-chain.ts';
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
import { ContentResult, passContent, passText } from './result-texts.ts';

export function isHeardAfter(links: readonly Link[]): boolean {
  return links.length > 0 && phasesAfter.some((phase) => isHeard(links, phase));
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
  const options = { call: callId, signal, hookContext, onAnswer };
  const {
    decision,
    outcome: passed,
    text,
  } = isHeard(links, 'after_execution')
    ? await passResult(outcome, { links, request, response, options, fits: tool.checkResult })
    : { decision: allowed, outcome };
  const visible =
    hasFilterAnswered && passed.status === 'failed'
      ? { ...passed, error: withoutPeerText(passed.error) }
      : passed;
  const result = { ...toCallResult(before, { outcome: visible, text }, decision), callId };
  if (!isCancelled(decision.error))
    await notifyFinished(before, result, { response, stage: 'after_execution' });
  return result;
}

interface ResultHooks {
  readonly links: readonly Link[];
  readonly request: ToolHookRequest;
  readonly response: ToolHookResponse;
  readonly options: GateOptions;
  readonly fits: SchemaCheck;
}

interface HookedResult {
  readonly decision: Decision;
  readonly outcome: ToolOk | ToolFailed;
  /** The text that a hook gave in place of the result. */
  readonly text?: string | undefined;
}

async function passResult(
  outcome: ToolOk | ToolFailed,
  { links, request, response, options, fits }: ResultHooks,
): Promise<HookedResult> {
  const { latency_ms: latencyMs, content: given, error, result } = response;
  const held = outcome.status === 'failed' || outcome.text !== undefined ? outcome.result : undefined;
  if (held === undefined) {
    const shown = { text: given, error, latencyMs, result };
    const { decision, text } = await passText(links, request, shown, options);
    const isChanged = decision.verdict === 'modify';
    return isChanged ? { decision, outcome: withContent(outcome, text), text } : { decision, outcome };
  }
  const content = new ContentResult(held);
  try {
    const call = { links, request, latencyMs, options, fitsStructured: fits };
    const decision = await passContent(content, call);
    return { decision, outcome: decision.verdict === 'modify' ? content.toOutcome() : outcome };
  } catch (error) {
    return { decision: allowed, outcome: failed(toFault(error)) };
  }
}

function toCallResult(
  before: FilteredCall,
  { outcome, text }: Omit<HookedResult, 'decision'>,
  decision: Decision,
): CallResult {
  const { verdict } = decision;
  if (verdict !== 'allow' && verdict !== 'modify') return deniedResult(namesOf(before.call), decision);
  const metadata = mergeMetadata([before.metadata, decision.metadata]);
  const context = [...before.context, ...decision.context];
  return passedResult({ call: before.call, metadata, context }, outcome, text);
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
