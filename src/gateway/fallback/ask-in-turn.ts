import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/try-parse.ts';
import { startTimer } from '../../base/time/deadline.ts';
import { isTransientStatus } from '../../models/provider-error.ts';
import type { CallOfCaller } from '../stages.ts';
import type { HeldShare } from '../stream/held-bytes.ts';
import { isFaultOfUpstream, upstreamTimeout } from '../upstream/failures.ts';
import { mediaTypeOf } from '../upstream/headers.ts';
import type { OfferedModel, UpstreamAnswer } from '../upstream/upstream.ts';
import { askUpstream, readWhole } from '../upstream-answer.ts';
import type { SseEvent } from '../wire/sse.ts';
import { SseParser } from '../wire/sse-parser.ts';
import type { Turn } from './turn.ts';

/**
 * Sends a body to the upstream whose turn it is. Throws UpstreamFault where the next one is to be asked; of the last one its
 * answer, or its RefusedCall, is what the client gets.
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
 * An answer once it has begun: a stream with the first event that tells something of it, any other when it is whole. Until then
 * nobody has anything of it, so that somebody else may be asked. Throws UpstreamFault, RefusedCall.
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
  /** Counts what is held until the answer has begun. */
  readonly held: HeldShare;
  readonly signal: AbortSignal;
  /** Of one event. */
  readonly maxChars: number;
  /** How long the answer may take to begin. */
  readonly timeoutMs: number;
}

/**
 * Waits for the first event that tells something of an answer; then its bytes, those that came before it among them. Throws
 * UpstreamFault where the upstream tells that it is overloaded or ends, RefusedCall where it breaks off or is late.
 */
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
    if (done === true)
      throw new UpstreamFault(`Provider "${provider}" ended its answer before it had begun.`);
    held.add(value.length);
    before.push(value);
    for (const event of parser.push(value)) {
      const telling = tellingOf(event);
      if (telling === 'answer') return before;
      if (telling === 'fault') throw new UpstreamFault(`Provider "${provider}" told an error of its own.`);
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

/** What an event at the beginning of a stream tells: nothing yet, that the upstream is at fault, or something of an answer. */
type Telling = 'nothing' | 'fault' | 'answer';

/** Reads an event of whichever endpoint. What is not known to tell nothing counts as an answer. */
export function tellingOf({ data }: SseEvent): Telling {
  const value = tryParse(data);
  if (!isObject(value)) return 'answer';
  const error = errorIn(value);
  if (error !== undefined) return isFault(error) ? 'fault' : 'answer';
  return isBeginning(value) ? 'nothing' : 'answer';
}

type Members = Readonly<Record<string, unknown>>;

/** The error that an event tells: in chat and Messages `error`, in Responses the event itself or that of the response. */
function errorIn(event: Members): Members | undefined {
  const { error, type, response } = event;
  if (isObject(error)) return error;
  if (type === 'error') return event;
  if (type !== 'response.failed' || !isObject(response)) return undefined;
  return isObject(response['error']) ? response['error'] : {};
}

/** Whether an error is none that the request causes: by its name, or the status that some servers give as its code. */
function isFault({ type, code, status }: Members): boolean {
  return [type, code, status].some((word) => {
    if (typeof word === 'string' && faults.has(word)) return true;
    const number = Number(word);
    return (
      typeof word !== 'boolean' && Number.isInteger(number) && number >= 400 && isTransientStatus(number)
    );
  });
}

/** The names that go with the statuses of `isTransientStatus`. */
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

/** A choice of a chat that says who speaks, and nothing else yet. */
function isEmptyChoice({ delta, finish_reason: reason }: Members): boolean {
  if ((reason ?? null) !== null || !isObject(delta)) return false;
  return Object.entries(delta).every(([name, value]) => name === 'role' || value === null || value === '');
}

/** An upstream that failed by a fault that another need not have, before anything of its answer was used. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
}
