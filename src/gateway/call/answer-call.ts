import { isTextTooDeep } from '../../base/json/depth.ts';
import { scanMembers } from '../../base/json/scan.ts';
import { inTurnOf } from '../../base/time/turns.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { costOf, type Price } from '../../models/spending/cost.ts';
import { askInTurn, UpstreamFault } from '../fallback/ask-in-turn.ts';
import type { Turn } from '../fallback/turn.ts';
import { countBase64 } from '../keys/base64-runs.ts';
import type { Caller, Estimate } from '../ports.ts';
import type { CallOfCaller, GuardedCall, IncomingCall, ReadCall } from '../stages.ts';
import { type ClientHeaders, mediaTypeOf, returnedHeaders } from '../upstream/headers.ts';
import { candidatesOf, type OfferedModel, type UpstreamAnswer } from '../upstream/upstream.ts';
import { readWhole } from '../upstream-answer.ts';
import type { EndpointName, WireRequest } from '../wire/codec.ts';
import { isAnthropicEndpoint } from '../wire/endpoints.ts';
import { invalidAnswer, invalidRequest } from '../wire/faults.ts';
import { openPlace, Place } from '../wire/place.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { decodeUtf8 } from '../wire/strict-json.ts';
import { judgeContextOf, judgeResults, type PassedRequest, runBeforeCall } from './before-call.ts';
import { CallAccount } from './call-account.ts';
import type { ClientCall, ClientReply } from './client-call.ts';
import { judgeStream } from './judge-stream.ts';
import { giveJudged, judgeWhole } from './judge-whole.ts';
import { relayStream } from './relay-stream.ts';
import { toRefusal, toRefusalReply } from './reply.ts';
import type { GatewayServices } from './services.ts';
import { giveAsAsked, toDenialReply, toStandInReply } from './stand-in.ts';
import { usageIn } from './usage.ts';

/** Answers one call of a client, from its key to its row in the audit. Never rejects. */
export async function answerCall(client: ClientCall, services: GatewayServices): Promise<ClientReply> {
  const account = new CallAccount(services, client.endpoint);
  try {
    return withRequestId(await answer({ client, services, account }), client, account.id);
  } catch (thrown) {
    return withRequestId(await refuse({ client, services, account }, thrown), client, account.id);
  }
}

async function answer(call: IncomingCall): Promise<ClientReply> {
  const { client, services, account } = call;
  const { config, admission, audit } = services;
  await audit?.ensureWritable();
  const caller = await admission.authenticate(presentedKey(client.headers, config.passThrough));
  account.caller = caller;
  return await inTurnOf(caller.keyId ?? '', async () => await answerCaller(call, caller));
}

/** Its hooks take turns with those of other keys where processes are few. */
async function answerCaller(call: IncomingCall, caller: Caller): Promise<ClientReply> {
  const { client, services, account } = call;
  const { config } = services;
  const text = decodeRequest(await client.readBody(config.limits.bodyBytes));
  account.request = text;
  const hooks = services.hooksOf(caller);
  const isRead = hooks.hears('before_call') || hooks.hears('after_call') || services.tools !== undefined;
  return isRead
    ? await answerGuarded({ ...call, caller, hooks }, text)
    : await relay({ ...call, caller }, text);
}

async function refuse({ client, services, account }: IncomingCall, thrown: unknown): Promise<ClientReply> {
  const codec = services.codecs[client.endpoint];
  const refusal = toRefusal(thrown);
  // Whoever runs the gateway learns why; the client does not.
  if (refusal.status === 500) services.report(thrown);
  else if (refusal.code === 'store_failed')
    services.report(thrown instanceof RefusedCall ? thrown.cause : thrown);
  const reply = toRefusalReply(codec, refusal);
  const outcome = client.signal.aborted ? 'aborted' : refusal.status >= 500 ? 'failed' : 'refused';
  try {
    await account.end({ status: refusal.status, outcome, answer: String(reply.body) });
    return reply;
  } catch (failed) {
    return toRefusalReply(codec, toRefusal(failed));
  }
}

/** Every answer has an id by which it can be found, the upstream's where it has one. */
function withRequestId(reply: ClientReply, { endpoint }: ClientCall, id: string): ClientReply {
  const name = isAnthropicEndpoint(endpoint) ? 'request-id' : 'x-request-id';
  if (reply.headers[name] !== undefined) return reply;
  return { ...reply, headers: { ...reply.headers, [name]: id } };
}

/** Answers a call that no hook hears of: what comes goes on as it is, and no more of it is read than limits need. */
async function relay(call: CallOfCaller, text: string): Promise<ClientReply> {
  const { limits } = call.services.config;
  if (isTextTooDeep(text, 0, limits.depth)) throw invalidRequest('The body is nested too deeply.');
  const request = peekRequest(text);
  const offered = await enterCall(call, request);
  return await answerInTurn(call, offered, (turn) => relayOf(call, request, turn));
}

async function relayOf(call: CallOfCaller, request: PeekedRequest, turn: Turn): Promise<ClientReply> {
  const answer = await askInTurn(call, turn, renameModel(request, turn.offered.upstreamName));
  const mediaType = mediaTypeOf(answer.headers);
  if (mediaType === 'text/event-stream') return relayStream(call, answer);
  return await relayWhole(call, answer, mediaType);
}

async function relayWhole(
  { services, account }: CallOfCaller,
  answer: UpstreamAnswer,
  mediaType = 'application/octet-stream',
): Promise<ClientReply> {
  const body = await account.time('upstream', () => readWhole(answer, services.config.limits.answerBytes));
  const isAsked = account.countsTokens;
  const text = isAsked ? new TextDecoder().decode(body) : undefined;
  if (text !== undefined) account.usage = usageIn(text);
  const { status } = answer;
  await account.end({ status, outcome: status < 400 ? 'allowed' : 'failed', answer: text });
  return { status, headers: { ...returnedHeaders(answer.headers), 'content-type': mediaType }, body };
}

/** Answers a call whose request and answer pass hooks. Throws RefusedCall. */
async function answerGuarded(call: GuardedCall, text: string): Promise<ClientReply> {
  const { client, services } = call;
  const codec = services.codecs[client.endpoint];
  const request = codec.readRequest(text, services.rules, client.headers);
  const { model, isStream, maxTokens, choices } = request;
  const offered = await enterCall(call, { text, model, isStream, maxTokens, choices });
  const messages = await judgeResults({ ...call, request });
  return await answerInTurn(call, offered, (turn) => answerFrom({ ...call, ...turn, request }, messages));
}

/** Answers from one upstream: hooks judge what it is sent, and what it answers. */
async function answerFrom(read: ReadCall, messages: readonly ChatMessage[]): Promise<ClientReply> {
  const before = await runBeforeCall(read, messages);
  switch (before.kind) {
    case 'refuse':
      return await toDenialReply(read, before.refusal);
    case 'answer':
      return await toStandInReply(read, before, 'before_call');
    case 'pass':
      return await judgeUpstream(read, before);
  }
}

async function judgeUpstream(call: ReadCall, passed: PassedRequest): Promise<ClientReply> {
  const kept = await call.services.tools?.recall(judgeContextOf(call));
  if (kept !== undefined) return await giveKeptAnswer(call, passed, kept);
  const answer = await askInTurn(call, call, passed.body);
  const isStream = answer.status < 300 && mediaTypeOf(answer.headers) === 'text/event-stream';
  if (!isStream) return await judgeWhole(call, passed, answer);
  if (call.request.isStream) return await judgeStream(call, passed, answer);
  answer.discard();
  throw invalidAnswer('it is a stream, and none was asked for');
}

/**
 * Gives the answer that was kept while a person decided about its calls, judged as if the upstream had just given it. The
 * upstream was paid when it was kept. Throws RefusedCall.
 */
async function giveKeptAnswer(call: ReadCall, passed: PassedRequest, kept: string): Promise<ClientReply> {
  const { services, client, request } = call;
  const read = services.codecs[client.endpoint].readAnswer(kept, services.rules, request);
  return await giveJudged(call, passed, read, (body) => giveAsAsked(call, body));
}

/**
 * Answers a call from the first upstream of a model that is not at fault. `answer` does all that is done for one of them, its
 * hooks included, and throws UpstreamFault only before a client or a hook has anything of its answer. Throws what else it
 * throws: a denial is no fault.
 */
async function answerInTurn(
  call: CallOfCaller,
  model: OfferedModel,
  answer: (turn: Turn) => Promise<ClientReply>,
): Promise<ClientReply> {
  const candidates = candidatesOf(model, call.client.endpoint);
  const [first = model, ...others] = candidates.length === 1 ? candidates : withoutFailing(call, candidates);
  if (candidates.length === 1) return await answer({ offered: first, isFallback: false, hasNext: undefined });
  let offered = first;
  for (const next of others) {
    try {
      return await answer(takeTurn(call, { offered, isFallback: offered !== model, hasNext: true }));
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFault)) throw thrown;
      call.client.signal.throwIfAborted();
      call.services.fallback.onFallback(offered.provider.id, next.provider.id, thrown.message);
      offered = next;
    }
  }
  return await answer(takeTurn(call, { offered, isFallback: offered !== model, hasNext: false }));
}

/** Without those that fail time after time, unless that are all. */
function withoutFailing(
  { services }: CallOfCaller,
  candidates: readonly OfferedModel[],
): readonly OfferedModel[] {
  const closed = candidates.filter(({ provider }) => !services.fallback.breaker.isOpen(provider.id));
  return closed.length > 0 ? closed : candidates;
}

function takeTurn({ account }: CallOfCaller, turn: Turn): Turn {
  account.turnTo(turn.offered);
  return turn;
}

/** What the gateway itself has to know of a request that no hook reads. */
interface PeekedRequest {
  readonly text: string;
  /** Where the model's name stands. */
  readonly modelPlace: Place;
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
}

/** The text of a request's body. Throws RefusedCall (400). */
function decodeRequest(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalidRequest('The body is not UTF-8.');
  return text;
}

/**
 * Reads the members of a request that routes and limits need, and none of the rest. Throws RefusedCall (400) for what is
 * no JSON object, and for one that has such a member twice.
 */
function peekRequest(text: string): PeekedRequest {
  const members = membersOf(text);
  const modelPlace = members.get('model');
  const model = modelPlace?.text;
  if (modelPlace === undefined || model === undefined || model === '')
    throw invalidRequest('The body has no "model".', 'model');
  const numberAt = (key: string) => {
    const place = members.get(key);
    const value = place?.kind === 'number' ? place.value : undefined;
    return typeof value === 'number' && value >= 0 ? value : undefined;
  };
  return {
    text,
    modelPlace,
    model,
    isStream: members.get('stream')?.value === true,
    maxTokens: largest(limitNames.map(numberAt)),
    choices: Math.max(1, numberAt('n') ?? 1),
  };
}

/** Of several limits, whichever the upstream heeds. */
function largest(limits: readonly (number | undefined)[]): number | undefined {
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.max(...given);
}

const limitNames = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const;

function membersOf(text: string): ReadonlyMap<string, Place> {
  const root = openOrRefuse(text);
  if (root.kind !== 'object') throw invalidRequest('The body is no JSON object.');
  const members = new Map<string, Place>();
  for (const { key, start, end } of scanMembers(text, root.start)) {
    if (members.has(key)) throw invalidRequest('The body has a key twice.', key.slice(0, 64));
    members.set(key, new Place(text, start, end));
  }
  return members;
}

function openOrRefuse(text: string): Place {
  try {
    return openPlace(text);
  } catch {
    throw invalidRequest('The body is no JSON.');
  }
}

/** The body with the upstream's name of the model; the same text when it has it. */
function renameModel({ text, modelPlace, model }: PeekedRequest, name: string): string {
  if (name === model) return text;
  return text.slice(0, modelPlace.start) + JSON.stringify(name) + text.slice(modelPlace.end);
}

interface AskedModel {
  readonly text: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
}

/** Finds the model of a call, and takes its place among the calls of its key. Throws RefusedCall (403, 404, 429). */
async function enterCall(
  { client, services, account, caller }: CallOfCaller,
  asked: AskedModel,
): Promise<OfferedModel> {
  account.model = asked.model;
  account.isStream = asked.isStream;
  const offered = services.modelOf(client.endpoint, asked.model);
  account.offered = offered;
  const estimateOf = ({ provider: { pricing, defaults } }: OfferedModel) =>
    estimateCall({
      ...{ endpoint: client.endpoint, request: asked, text: asked.text },
      ...{ price: pricing, defaultMaxTokens: defaults.maxTokens },
    });
  const estimate = () => dearest(candidatesOf(offered, client.endpoint).map(estimateOf));
  account.hold(await services.admission.enter(caller, asked.model, estimate));
  client.signal.throwIfAborted();
  return offered;
}

/** What suffices whoever answers; without a price where one of them has none. */
function dearest(estimates: readonly Estimate[]): Estimate {
  return estimates.reduce((one, other) => ({
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    cost: one.cost === null || other.cost === null ? null : Math.max(one.cost, other.cost),
  }));
}

export interface CallToEstimate {
  readonly endpoint: EndpointName;
  readonly request: Pick<WireRequest, 'maxTokens' | 'choices'>;
  /** The request's body. */
  readonly text: string;
  readonly price: Price | undefined;
  /** The most tokens that the provider's own settings ask for, where the request says nothing. */
  readonly defaultMaxTokens?: number | undefined;
}

/**
 * What a call may use. Money: a token is at least one byte, so that text cannot cost more, and the output is as long as it
 * may be. Tokens: four bytes each, as they mostly are. Of pictures and files sixteen bytes are one token, in both.
 */
export function estimateCall(call: CallToEstimate): Estimate {
  const { endpoint, text, price } = call;
  // Counting tokens is free, and has no answer that costs.
  if (endpoint === 'count_tokens') return { inputTokens: 0, outputTokens: 0, cost: 0 };
  const outputTokens = endpoint === 'embeddings' ? 0 : mostOutputTokens(call);
  const opaque = countBase64(text);
  const words = Buffer.byteLength(text) - opaque;
  const inputTokens = inputOf(words / BYTES_PER_TOKEN + opaque / OPAQUE_BYTES_PER_TOKEN);
  const mostInput = inputOf(words + opaque / OPAQUE_BYTES_PER_TOKEN);
  return { inputTokens, outputTokens, cost: costOf({ input: mostInput, output: outputTokens }, price) };
}

function inputOf(tokens: number): number {
  return Math.min(MOST_INPUT, Math.ceil(tokens));
}

const BYTES_PER_TOKEN = 4;
const OPAQUE_BYTES_PER_TOKEN = 16;
/** No model reads more. */
const MOST_INPUT = 2_000_000;
/** Where neither the request nor the provider says how long an answer may be. */
const DEFAULT_MAX_TOKENS = 4096;

function mostOutputTokens({ request, defaultMaxTokens = DEFAULT_MAX_TOKENS }: CallToEstimate): number {
  return positiveOr(defaultMaxTokens, request.maxTokens) * positiveOr(1, request.choices);
}

/** A request that asks for less than nothing must not look cheap. */
function positiveOr(fallback: number, value: number | undefined): number {
  return value !== undefined && value > 0 ? value : fallback;
}

/**
 * The key of the gateway that a request presents: in `x-signalbox-key`, else where the SDKs put keys, unless what stands
 * there is passed through to the upstream.
 */
export function presentedKey(headers: ClientHeaders, passThrough: readonly string[]): string | undefined {
  const own = textOf(headers['x-signalbox-key']);
  if (own !== undefined) return own;
  const bearer = passThrough.includes('authorization') ? undefined : textOf(headers['authorization']);
  const token = bearer === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(bearer)?.[1];
  if (token !== undefined) return token;
  return passThrough.includes('x-api-key') ? undefined : textOf(headers['x-api-key']);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
