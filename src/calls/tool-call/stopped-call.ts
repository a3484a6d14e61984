import { RuntimeError, toFault } from '../../base/errors.ts';
import type { Decision, Respond } from '../../contract/hook.ts';
import { failed, ok } from '../../contract/tool.ts';
import { isCancelled } from '../capability/cancellation.ts';
import { type CallResult, deniedResult } from '../hooks/call-result.ts';
import { passGate } from '../hooks/gate.ts';
import { isHeard } from '../hooks/steps.ts';
import { notifyFinished, notifyHooks, passAfterHooks } from './after-execution.ts';
import { type FilteredCall, namesOf, requestOf } from './callable-tool.ts';

/**
 * The result of a call that a hook answered in the tool's place: no approval is asked, no process runs, and
 * the after_execution filters of other dialects see the answer.
 */
export async function takeHookResponse(
  before: FilteredCall,
  { respond, dialect }: { readonly respond: Respond; readonly dialect: string | null },
): Promise<CallResult> {
  const { call, args } = before;
  await notifyHooks(call, { hook: 'tool', phase: 'started', request: requestOf(call, args) });
  const { result, isError = false, handled } = respond;
  const text = typeof result.value === 'string' ? result.value : result.text;
  const outcome = isError ? failed(toFault(new RuntimeError('TOOL_ERROR', text))) : ok(result);
  const answered = await passAfterHooks(before, outcome, { latencyMs: 0, answeredBy: dialect });
  const isWithheld = answered.outcome.status === 'denied';
  return handled === undefined || isWithheld ? answered : { ...answered, handled };
}

/**
 * The result of a call that a hook denied. Hooks of the `blocked` phase may replace what the model reads of
 * it.
 */
export async function blockCall(
  before: FilteredCall,
  decision: Decision,
  stage: 'before_execution' | 'approval',
): Promise<CallResult> {
  const { call, args } = before;
  const { tool, callId, signal, hookContext } = call;
  const denial = deniedResult(namesOf(call), decision);
  const result = { ...denial, content: [denial.content, ...before.context].join('\n') };
  // A hook that was cancelled has not denied the call.
  if (isCancelled(decision.error) || !isHeard(tool.links, 'blocked')) return result;
  const request = requestOf(call, args);
  const text = result.content;
  const response = { name: tool.name, call_id: callId, content: text, error: text, latency_ms: 0 };
  const { event } = await passGate(
    tool.links,
    { hook: 'tool', phase: 'blocked', request, response, reason: decision.reason, stage },
    { call: callId, signal, hookContext },
  );
  const content = event.phase === 'blocked' ? event.response.content : text;
  const blocked = { ...result, content };
  await notifyFinished(before, blocked, { response, stage });
  return blocked;
}
