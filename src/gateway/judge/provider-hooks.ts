import { RuntimeError } from '../../base/errors.ts';
import { isSameByValue } from '../../base/json/equal.ts';
import { isObject } from '../../base/json/json.ts';
import { inTurnOf } from '../../base/time/turns.ts';
import { type Link, passGate } from '../../calls/hooks/gate.ts';
import { createHookSet, type HookSet, selectHooks } from '../../calls/hooks/links.ts';
import type { Decision, Phase } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { nextEventId } from '../../contract/tool.ts';
import {
  type AfterCall,
  askHooks,
  createAfterCallEvent,
  createFaultRefusal,
  createPieceEvent,
  type Fire,
  type GuardOutcome,
  type Refusal as GuardRefusal,
  type StoppedAnswer,
  type SubstituteAnswer,
} from '../../models/guard/guard-outcome.ts';
import type { ReadCall, RequestedCall } from '../account.ts';
import type { Caller, ClientCall, JudgeContext } from '../ports.ts';
import type { ClientHeaders, Substitute, WireAnswer, WireRequest } from '../wire/codec.ts';
import { type Refusal, RefusedCall } from '../wire/refusal.ts';

export interface PassedRequest {
  readonly kind: 'pass';
  readonly body: string;
  readonly request: ProviderRequest;
}

type BeforeOutcome =
  | PassedRequest
  | { readonly kind: 'answer'; readonly substitute: Substitute; readonly by: Decision }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/** `messages` are the request's messages after the tool hooks. Throws RefusedCall. */
export async function runBeforeCall(
  call: ReadCall,
  messages: readonly ChatMessage[],
): Promise<BeforeOutcome> {
  const { services, account, caller, hooks, client } = call;
  const sent = toProviderRequest(call, messages);
  // What hooks allowed for one provider is not allowed for another.
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
    account.sent(request);
    return { kind: 'pass', body, request };
  } catch (thrown) {
    const refused = createFaultRefusal('before_call', thrown, decision);
    return { kind: 'refuse', refusal: denialOf(refused, 'before_call') };
  }
}

function createFire(links: readonly Link[], { keyId }: Caller): Fire {
  return async (event, options) =>
    await inTurnOf(keyId ?? '', () => passGate(links, event, { call: nextEventId(), ...options }));
}

/** Runs the tool hooks on the results in a request and returns its messages. Throws RefusedCall. */
export async function judgeResults(call: RequestedCall): Promise<readonly ChatMessage[]> {
  const { services, request, account } = call;
  const { tools } = services;
  if (tools === undefined || request.toolResults.length === 0) return request.payload.messages;
  return await account.time('hooks', () => tools.judgeResults(judgeContextOf(call)));
}

export function judgeContextOf({ caller, client, request, account }: RequestedCall): JudgeContext {
  return {
    caller,
    endpoint: client.endpoint,
    model: request.model,
    request,
    signal: client.signal,
    onDecision: (phase, decision) => account.decided(phase, decision),
    onWait: (run) => account.noteExchange(() => ({ run })),
  };
}

function toProviderRequest(
  { request, offered, isFallback, caller, client }: ReadCall,
  messages: readonly ChatMessage[],
): ProviderRequest {
  const { system_prompt, round, tools, options, other } = request.payload;
  return {
    provider_id: offered.provider.id,
    // A fallback has its own model name.
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

/** Writes the hooks' changes into the body. Throws REPLY_MALFORMED if the format cannot express a change. */
function writeRequest({ request, offered }: ReadCall, sent: ProviderRequest, left: ProviderRequest): string {
  if (left.model !== sent.model)
    throw new RuntimeError('REPLY_MALFORMED', 'hooks of a gateway cannot change the model');
  if (!isSameByValue(left.options, sent.options))
    throw new RuntimeError('REPLY_MALFORMED', 'hooks of a gateway cannot change the settings of a request');
  const { payload } = request;
  const { messages, system_prompt, other = payload.other, tools = payload.tools } = left;
  return request.write({ messages, system_prompt, other, tools }, offered.upstreamName);
}

/**
 * Returns a path such as `messages[3]` from the hook's `message_index` or a request's only message. Undefined if
 * unknown, or if earlier hooks added or removed messages. `judged` holds the messages at the end of the chain.
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

/** Sessions from the client's header are scoped to their key, so keys cannot reach each other's sessions. */
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

const agentHeader = /^(?:[a-z-]+-)?(?:session[-_]id|conversation[-_]id)$/;

function isSession(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,128}$/.test(value);
}

export interface AnswerJudge {
  /** Runs the after_call hooks on the message of a choice until the signal aborts. Never rejects. */
  ask(message: ChatMessage, signal?: AbortSignal): Promise<GuardOutcome<AfterCall>>;
  /** Runs only the filters, on a piece of a message. `window` counts the pieces from 1. Never rejects. */
  askAboutPiece(message: ChatMessage, window: number, signal?: AbortSignal): Promise<GuardOutcome<AfterCall>>;
  /** Returns the messages with the changes. Throws RefusedCall. */
  readonly judgeCalls?:
    | ((answer: WireAnswer, messages: readonly ChatMessage[]) => Promise<readonly ChatMessage[]>)
    | undefined;
}

export interface AnswerJudgeOptions {
  readonly fire: Fire;
  readonly request: ProviderRequest;
  readonly latencyMs: () => number;
  readonly signal: AbortSignal;
  readonly onDecision?: ((decision: Decision) => void) | undefined;
  readonly judgeCalls?: AnswerJudge['judgeCalls'];
}

export function createAnswerJudge(options: AnswerJudgeOptions): AnswerJudge {
  const { fire, request, latencyMs, signal: ofClient, onDecision, judgeCalls } = options;
  const input = (message: ChatMessage) => ({ request, message, latencyMs: latencyMs() });
  return {
    ask: async (message, signal = ofClient) => {
      const outcome = await askHooks(fire, createAfterCallEvent(input(message)), { signal });
      onDecision?.(outcome.decision);
      return outcome;
    },
    askAboutPiece: async (message, window, signal = ofClient) => {
      const event = createPieceEvent(input(message), window);
      const outcome = await askHooks(fire, event, { signal, filtersOnly: true });
      if (outcome.kind !== 'pass') onDecision?.(outcome.decision);
      return outcome;
    },
    judgeCalls,
  };
}

export type AnswerVerdict =
  | { readonly kind: 'same'; readonly body: string }
  | { readonly kind: 'changed'; readonly body: string; readonly by: Decision | undefined }
  | { readonly kind: 'stand-in'; readonly substitute: Substitute; readonly by: Decision }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/** One stopped choice stops the whole response; a refusal precedes a stand-in. Never rejects. */
export async function judgeAnswer(answer: WireAnswer, judge: AnswerJudge): Promise<AnswerVerdict> {
  const outcomes = await Promise.all(answer.messages.map((message) => judge.ask(message)));
  const stopped = findStopped(outcomes);
  if (stopped !== undefined) return toStop(stopped);
  const passed = outcomes.filter((outcome) => outcome.kind === 'pass');
  const messages = passed.map(({ event }) => event.response.message);
  const by = passed.find(({ decision }) => decision.verdict === 'modify')?.decision;
  return writeJudged(answer, { messages, by, judge });
}

export function toStop(stopped: StoppedAnswer): AnswerVerdict {
  if (stopped.kind === 'refuse') return { kind: 'refuse', refusal: denialOf(stopped, 'after_call') };
  return { kind: 'stand-in', substitute: toSubstitute(stopped.answer), by: stopped.decision };
}

function toSubstitute({ text, finishReason }: SubstituteAnswer): Substitute {
  return { text, end: finishReason.unified === 'stop' ? 'stop' : 'refused' };
}

function findStopped(outcomes: readonly GuardOutcome<AfterCall>[]): StoppedAnswer | undefined {
  const stopped = outcomes.filter((outcome) => outcome.kind !== 'pass');
  return stopped.find(({ kind }) => kind === 'refuse') ?? stopped[0];
}

interface Judged {
  readonly messages: readonly ChatMessage[];
  readonly by: Decision | undefined;
  readonly judge: AnswerJudge;
}

async function writeJudged(
  answer: WireAnswer,
  { messages, by, judge: { judgeCalls } }: Judged,
): Promise<AnswerVerdict> {
  try {
    const judged = (await judgeCalls?.(answer, messages)) ?? messages;
    if (judged.every((message, index) => message === answer.messages[index]))
      return { kind: 'same', body: answer.body };
    const body = answer.write(judged);
    return body === answer.body ? { kind: 'same', body } : { kind: 'changed', body, by };
  } catch (error) {
    if (error instanceof RefusedCall) return { kind: 'refuse', refusal: error.refusal };
    return { kind: 'refuse', refusal: denialOf(createFaultRefusal('after_call', error, by), 'after_call') };
  }
}

/** 400 `content_filter` for a denial, 503 `guard_failed` for a failed hook. Quotes only the hook's own words. */
export function denialOf({ error, decision }: GuardRefusal, phase: Phase): Refusal {
  const { verdict, hook } = decision;
  // A stop without a deciding hook means that the hooks could not run.
  const isFault = decision.error !== undefined || hook === null;
  return {
    ...(isFault ? { status: 503, code: 'guard_failed' } : { status: 400, code: 'content_filter' }),
    message: error.message,
    isRetryable: false,
    verdict: { verdict, hook, phase },
  };
}

export function judgeOf(
  call: ReadCall,
  { request }: PassedRequest,
  onDecision?: (decision: Decision) => void,
): AnswerJudge {
  const { services, hooks, client, account } = call;
  const { tools } = services;
  const started = performance.now();
  const judge = createAnswerJudge({
    fire: createFire(hooks.links, call.caller),
    request,
    latencyMs: () => Math.round(performance.now() - started),
    signal: client.signal,
    onDecision,
    judgeCalls:
      tools &&
      (async (answer: WireAnswer, messages) => {
        // An answer that waits for a person, or is refused, reaches no caller.
        account.noteExchange(() => ({ answers: [] }));
        const judged = await inTurnOf(call.caller.keyId ?? '', () =>
          tools.judgeCalls(answer, messages, judgeContextOf(call)),
        );
        account.noteExchange(() => ({ answers: judged }));
        return judged;
      }),
  });
  let isStopped = false;
  // One stopped choice, or a stopped piece of it, stops all.
  const note = (outcome: GuardOutcome<AfterCall>, passed: readonly ChatMessage[]) => {
    if (outcome.kind === 'pass') {
      if (!isStopped) account.noteExchange(({ answers }) => ({ answers: [...answers, ...passed] }));
      return;
    }
    isStopped = true;
    const text = outcome.kind === 'answer' ? outcome.answer.text : undefined;
    account.noteExchange(() => ({
      answers: text === undefined ? [] : [{ role: 'assistant', content: text }],
    }));
  };
  return {
    ...judge,
    ask: async (message, signal) => {
      const outcome = await judge.ask(message, signal);
      note(outcome, outcome.kind === 'pass' ? [outcome.event.response.message] : []);
      return outcome;
    },
    askAboutPiece: async (message, window, signal) => {
      const outcome = await judge.askAboutPiece(message, window, signal);
      note(outcome, []);
      return outcome;
    },
  };
}

export function openHookSets(links: readonly Link[]) {
  const all = createHookSet(links);
  const sets = new Map<string, HookSet & { close(): Promise<void> }>();
  return {
    of: ({ hooks }: Caller): HookSet => {
      if (hooks === undefined) return all;
      const id = JSON.stringify(hooks);
      const set = sets.get(id) ?? selectHooks(links, new Set(hooks));
      sets.set(id, set);
      return set;
    },
    close: async () => {
      await Promise.all([...sets.values()].map((set) => set.close()));
    },
  };
}
