import { RuntimeError } from '../../base/errors.ts';
import { isSameByValue } from '../../base/json/equal.ts';
import { inTurnOf } from '../../base/time/turns.ts';
import { type Link, passGate } from '../../calls/hooks/gate.ts';
import { nextEventId } from '../../contract/call-id.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { askHooks, createFaultRefusal, type Fire } from '../../models/guard/guard-outcome.ts';
import { placeOfDenied } from '../memo/blamed-message.ts';
import type { Caller, JudgeContext } from '../ports.ts';
import type { ReadCall, RequestedCall } from '../stages.ts';
import { toSubstitute } from '../stream/answer-verdict.ts';
import { denialOf } from '../stream/denial.ts';
import type { Substitute } from '../wire/codec.ts';
import type { Refusal } from '../wire/refusal.ts';
import { metadataOf } from './session.ts';

/** A request that may go upstream. */
export interface PassedRequest {
  readonly kind: 'pass';
  /** As the upstream is to get it. */
  readonly body: string;
  /** As the filters left it. */
  readonly request: ProviderRequest;
}

/** What becomes of a request. */
export type BeforeOutcome =
  | PassedRequest
  | { readonly kind: 'answer'; readonly substitute: Substitute; readonly by: Decision }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/**
 * Asks the provider hooks about the whole request, as one upstream is to get it; `messages` are what the tool hooks left of
 * it. Throws RefusedCall.
 */
export async function runBeforeCall(
  call: ReadCall,
  messages: readonly ChatMessage[],
): Promise<BeforeOutcome> {
  const { services, account, caller, hooks, client } = call;
  const sent = toProviderRequest(call, messages);
  // What was let pass to one provider was not let pass to another.
  const chain = call.isFallback ? undefined : services.seen?.watch(caller, hooks.links);
  const fire = createFire(chain?.links ?? hooks.links, caller);
  const outcome = await account.time('hooks', () =>
    askHooks(fire, { hook: 'provider', phase: 'before_call', request: sent }, { signal: client.signal }),
  );
  client.signal.throwIfAborted();
  const { decision } = outcome;
  if (hooks.hears('before_call')) account.decided('before_call', decision);
  if (outcome.kind === 'refuse') {
    const param = placeOfDenied(decision, call.request);
    return { kind: 'refuse', refusal: { ...denialOf(outcome, 'before_call'), param } };
  }
  if (outcome.kind === 'answer')
    return { kind: 'answer', substitute: toSubstitute(outcome.answer), by: decision };
  const { request } = outcome.event;
  try {
    const body = writeRequest(call, sent, request);
    chain?.remember();
    return { kind: 'pass', body, request };
  } catch (thrown) {
    const refused = createFaultRefusal('before_call', thrown, decision);
    return { kind: 'refuse', refusal: denialOf(refused, 'before_call') };
  }
}

/** Fires events at the hooks of these links, which take turns with those of other callers. */
export function createFire(links: readonly Link[], { keyId }: Caller): Fire {
  return async (event, options) =>
    await inTurnOf(keyId ?? '', () => passGate(links, event, { call: nextEventId(), ...options }));
}

/** The messages of a request as the tool hooks leave its results. Throws RefusedCall. */
export async function judgeResults(call: RequestedCall): Promise<readonly ChatMessage[]> {
  const { services, request, account } = call;
  const { tools } = services;
  if (tools === undefined || request.toolResults.length === 0) return request.payload.messages;
  return await account.time('hooks', () => tools.judgeResults(judgeContextOf(call)));
}

/** What judges of tools are told of a call. */
export function judgeContextOf({ caller, client, request, account }: RequestedCall): JudgeContext {
  return {
    caller,
    endpoint: client.endpoint,
    model: request.model,
    request,
    signal: client.signal,
    onDecision: (phase, decision) => account.decided(phase, decision),
  };
}

function toProviderRequest(
  { request, offered, isFallback, caller, client }: ReadCall,
  messages: readonly ChatMessage[],
): ProviderRequest {
  const { system_prompt, round, tools, options, other } = request.payload;
  return {
    provider_id: offered.provider.id,
    // As the client calls it, unless it did not ask for this one.
    model: isFallback ? offered.upstreamName : request.model,
    messages,
    system_prompt,
    round,
    metadata: metadataOf(client, caller),
    tools,
    options,
    other,
  };
}

/** The body with the hooks' changes. Throws REPLY_MALFORMED for a change that has no place in it. */
function writeRequest({ request, offered }: ReadCall, sent: ProviderRequest, left: ProviderRequest): string {
  if (left.model !== sent.model) throw new RuntimeError('REPLY_MALFORMED', 'a gateway keeps the model');
  if (!isSameByValue(left.options, sent.options))
    throw new RuntimeError('REPLY_MALFORMED', 'a gateway keeps the settings of a request');
  const { payload } = request;
  const { messages, system_prompt, other = payload.other, tools = payload.tools } = left;
  return request.write({ messages, system_prompt, other, tools }, offered.upstreamName);
}
