import { RuntimeError } from '../../base/errors.ts';
import { isSameByValue } from '../../base/json/equal.ts';
import { isObject } from '../../base/json/json.ts';
import { inTurnOf } from '../../base/time/turns.ts';
import { type Link, passGate } from '../../calls/hooks/gate.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { nextEventId } from '../../contract/tool.ts';
import { askHooks, createFaultRefusal, type Fire } from '../../models/guard/guard-outcome.ts';
import type { Caller, JudgeContext } from '../ports.ts';
import type { ReadCall, RequestedCall } from '../stages.ts';
import { denialOf, toSubstitute } from '../stream/answer-verdict.ts';
import type { ClientHeaders } from '../upstream/headers.ts';
import type { Substitute, WireRequest } from '../wire/codec.ts';
import type { Refusal } from '../wire/refusal.ts';
import type { ClientCall } from './client-call.ts';

/** A request that may go upstream. */
export interface PassedRequest {
  readonly kind: 'pass';
  /** As the upstream is to get it. */
  readonly body: string;
  /** As the filters left it. */
  readonly request: ProviderRequest;
}

/** What becomes of a request. */
type BeforeOutcome =
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

/**
 * The place of the message that a hook has denied, such as `messages[3]`: the one that its metadata names as
 * `message_index`, else the only one of a request that says nothing else. Undefined where it is not known, or where hooks before it have added
 * or dropped messages. `judged`: the messages as they came to the end of the chain.
 */
function placeOfDenied(
  { metadata }: Pick<Decision, 'metadata'>,
  { places, payload }: Pick<WireRequest, 'places' | 'payload'>,
  judged: readonly ChatMessage[] = payload.messages,
): string | undefined {
  if (judged.length !== payload.messages.length) return undefined;
  const { value } = metadata;
  const index = isObject(value) ? value['message_index'] : undefined;
  if (typeof index === 'number' && Number.isInteger(index)) return places[index];
  const isAlone = places.length === 1 && payload.system_prompt === '' && payload.other.text === '{}';
  return isAlone ? places[0] : undefined;
}

/**
 * `request.metadata` of hooks: the endpoint, the caller, and the session that the client names in a header. A session
 * belongs to its key, so that no key meets what another's session has.
 */
function metadataOf(
  { endpoint, headers }: ClientCall,
  { keyId, name }: Caller,
): Readonly<Record<string, unknown>> {
  const session = sessionIn(headers);
  return {
    endpoint,
    ...(keyId !== null && { caller: name }),
    ...(session !== undefined && { session_id: keyId === null ? session : `${keyId}:${session}` }),
  };
}

/** The session that a header names: ours, or that of an agent. */
function sessionIn(headers: ClientHeaders): string | undefined {
  const own = headers['x-session-id'];
  if (isSession(own)) return own;
  for (const name in headers) {
    if (!agentHeader.test(name)) continue;
    const value = headers[name];
    if (isSession(value)) return value;
  }
  return undefined;
}

/** Agents name it with a prefix of theirs, or without one. */
const agentHeader = /^(?:[a-z-]+-)?(?:session[-_]id|conversation[-_]id)$/;

function isSession(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,128}$/.test(value);
}
