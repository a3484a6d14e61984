import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { startTimer } from '../../base/time/deadline.ts';
import { isTransientStatus } from '../../models/provider-error.ts';
import type { CallOfCaller } from '../account.ts';
import type { ClientReply, HeldShare, Turn } from '../ports.ts';
import {
  candidatesOf,
  forwardedHeaders,
  isFaultOfUpstream,
  mediaTypeOf,
  type OfferedModel,
  readAll,
  type UpstreamAnswer,
  upstreamTimeout,
} from '../upstream/upstream.ts';
import type { TokenUsage } from '../wire/codec.ts';
import { invalidAnswer, type RefusedCall, refuse } from '../wire/refusal.ts';
import { type SseEvent, SseParser } from '../wire/sse.ts';
import { askForUsage, withoutUsage } from './usage.ts';

/**
 * Throws UpstreamFault if it fails and another upstream follows. The last one's response or error goes to the client.
 */
export async function askInTurn(call: CallOfCaller, turn: Turn, body: string): Promise<UpstreamAnswer> {
  const answer =
    turn.hasNext === undefined
      ? await askUpstream(call, turn.offered, body)
      : await askWatched(call, { ...turn, hasNext: turn.hasNext }, body);
  call.account.provider = turn.offered.provider.id;
  return answer;
}

type WatchedTurn = Turn & { readonly hasNext: boolean };

async function askWatched(call: CallOfCaller, turn: WatchedTurn, body: string): Promise<UpstreamAnswer> {
  const { services, client } = call;
  const { id } = turn.offered.provider;
  const { breaker, onOpen } = services.fallback;
  const fail = () => {
    if (breaker.fail(id)) onOpen(id);
  };
  try {
    const answer = await askUpstream(call, turn.offered, body);
    const begun = turn.hasNext ? await whenBegun(call, turn.offered, answer) : answer;
    if (isTransientStatus(begun.status)) fail();
    else breaker.succeed(id);
    return begun;
  } catch (thrown) {
    client.signal.throwIfAborted();
    const isKnown = thrown instanceof UpstreamFault;
    if (!isKnown && !isFaultOfUpstream(thrown)) throw thrown;
    fail();
    throw turn.hasNext && !isKnown ? new UpstreamFault(thrown.message, { cause: thrown }) : thrown;
  }
}

/**
 * A stream has begun at its first event with content, other responses when complete. Until then another upstream can be
 * tried. Throws UpstreamFault and RefusedCall.
 */
async function whenBegun(
  { services, account, client }: CallOfCaller,
  { provider }: OfferedModel,
  answer: UpstreamAnswer,
): Promise<UpstreamAnswer> {
  const { limits } = services.config;
  if (isTransientStatus(answer.status)) {
    answer.discard();
    throw new UpstreamFault(`Provider "${provider.id}" answered with status ${answer.status}.`);
  }
  if (answer.status >= 300) return answer;
  return await account.time('upstream', async () => {
    if (mediaTypeOf(answer.headers) !== 'text/event-stream') {
      return { ...answer, body: only(await readWhole(answer, limits.answerBytes)) };
    }
    const held = services.heldBytes.open();
    try {
      const body = await beginStream(answer, {
        ...{ provider: provider.id, held, signal: client.signal, maxChars: limits.heldBytes },
        timeoutMs: provider.requestTimeoutMs ?? limits.upstreamMs,
      });
      return { ...answer, body };
    } catch (thrown) {
      answer.discard();
      throw thrown;
    } finally {
      held.end();
    }
  });
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

interface BeginOptions {
  readonly provider: string;
  readonly held: HeldShare;
  readonly signal: AbortSignal;
  readonly maxChars: number;
  readonly timeoutMs: number;
}

/** Throws UpstreamFault if the upstream reports an error or ends first, RefusedCall if it disconnects or times out. */
async function beginStream(
  { body }: Pick<UpstreamAnswer, 'body'>,
  options: BeginOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const pieces = body[Symbol.asyncIterator]();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const { timeoutMs, provider, signal } = options;
  const timer = startTimer({ timeoutMs, signal }, (cause) =>
    reject(cause === 'abort' ? signal.reason : upstreamTimeout(provider)),
  );
  try {
    const before = await Promise.race([readUntilBegun(pieces, options), late]);
    return resume(before, pieces);
  } finally {
    timer.clear();
  }
}

async function readUntilBegun(
  pieces: AsyncIterator<Uint8Array>,
  { provider, held, maxChars }: BeginOptions,
): Promise<readonly Uint8Array[]> {
  const parser = new SseParser(maxChars);
  const before: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) throw new UpstreamFault(`Provider "${provider}" ended its answer before it began.`);
    held.add(value.length);
    before.push(value);
    for (const event of parser.push(value)) {
      const telling = tellingOf(event);
      if (telling === 'answer') return before;
      if (telling === 'fault') throw new UpstreamFault(`Provider "${provider}" returned an error.`);
    }
  }
}

async function* resume(
  before: readonly Uint8Array[],
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* before;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}

type Telling = 'nothing' | 'fault' | 'answer';

/** Classifies an event of any endpoint. Unknown events count as an answer. */
export function tellingOf({ data }: SseEvent): Telling {
  const value = tryParse(data);
  if (!isObject(value)) return 'answer';
  const error = errorIn(value);
  if (error !== undefined) return isFault(error) ? 'fault' : 'answer';
  return isBeginning(value) ? 'nothing' : 'answer';
}

type Members = Readonly<Record<string, unknown>>;

function errorIn(event: Members): Members | undefined {
  const { error, type, response } = event;
  if (isObject(error)) return error;
  if (type === 'error') return event;
  if (type !== 'response.failed' || !isObject(response)) return undefined;
  return isObject(response['error']) ? response['error'] : {};
}

/** Whether the upstream, not the request, caused an error. Some servers send an HTTP status as the code. */
function isFault({ type, code, status }: Members): boolean {
  return [type, code, status].some((word) => {
    if (typeof word === 'string' && faults.has(word)) return true;
    const number = Number(word);
    return (
      typeof word !== 'boolean' && Number.isInteger(number) && number >= 400 && isTransientStatus(number)
    );
  });
}

const faults: ReadonlySet<string> = new Set([
  // https://docs.anthropic.com/en/api/errors
  ...['overloaded_error', 'api_error', 'rate_limit_error', 'timeout_error'],
  // https://platform.openai.com/docs/guides/error-codes
  ...['server_error', 'rate_limit_exceeded', 'insufficient_quota', 'internal_server_error'],
]);

function isBeginning({ type, choices }: Members): boolean {
  if (typeof type === 'string') return beginnings.has(type);
  return Array.isArray(choices) && choices.every((choice) => isObject(choice) && isEmptyChoice(choice));
}

const beginnings: ReadonlySet<string> = new Set([
  ...['ping', 'message_start'],
  ...['response.created', 'response.queued', 'response.in_progress'],
]);

function isEmptyChoice({ delta, finish_reason: reason }: Members): boolean {
  if ((reason ?? null) !== null || !isObject(delta)) return false;
  return Object.entries(delta).every(([name, value]) => name === 'role' || value === null || value === '');
}

/** An upstream failure that another upstream may not have, before any part of the response was used. */
class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
}

/** For keys with a budget, asks streamed chats for their usage and removes it from the response. Throws RefusedCall. */
async function askUpstream(
  { client, services, account, caller }: CallOfCaller,
  { upstream, provider }: OfferedModel,
  body: string,
): Promise<UpstreamAnswer> {
  account.asked.push(provider.id);
  const needsUsage = caller.hasBudget && client.endpoint === 'chat' && provider.streamUsage !== false;
  const asking = needsUsage ? askForUsage(body) : undefined;
  const answer = await account.time('upstream', () =>
    upstream.send({
      endpoint: client.endpoint,
      query: client.query,
      headers: forwardedHeaders(client.headers, services.config),
      body: asking ?? body,
      signal: client.signal,
    }),
  );
  account.upstreamStatus = answer.status;
  requireReadable(answer, provider.id);
  if (asking === undefined || mediaTypeOf(answer.headers) !== 'text/event-stream') return answer;
  const onUsage = (usage: TokenUsage) => {
    account.usage = usage;
  };
  const maxBytes = services.config.limits.heldBytes;
  return { ...answer, body: withoutUsage(answer.body, { onUsage, maxBytes }) };
}

/** Throws RefusedCall (502) for compressed responses and redirects. */
function requireReadable(answer: UpstreamAnswer, provider: string): void {
  const { status, headers } = answer;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    answer.discard();
    throw invalidAnswer('it is compressed, although no compression was requested');
  }
  if (status >= 200 && (status < 300 || status >= 400)) return;
  answer.discard();
  const message = `Provider "${provider}" answered with status ${status}, which is not followed.`;
  throw refuse(502, 'upstream_redirected', message);
}

/** Throws RefusedCall (502 `answer_too_large`) if the response exceeds `maxBytes`. */
export async function readWhole({ body }: UpstreamAnswer, maxBytes: number): Promise<Uint8Array> {
  return await readAll(body, maxBytes, tooLarge);
}

function tooLarge(): RefusedCall {
  const message = 'The answer is larger than the gateway accepts.';
  return refuse(502, 'answer_too_large', message);
}

/** `answer` may throw UpstreamFault only before a client or hook has seen its response. Other errors pass through. */
export async function answerInTurn(
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

/** Skips providers with an open circuit breaker unless all are open. */
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
