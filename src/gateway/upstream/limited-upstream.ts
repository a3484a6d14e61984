import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { whenAborted } from '../../base/time/when-aborted.ts';
import { startCallDeadline } from '../../models/open/call-deadline.ts';
import type { RateQueue, Turn } from '../../models/rate/rate-queue.ts';
import { readRetryAfter } from '../../models/rate/retry-after.ts';
import type { StreamLimits } from '../../models/rate/stream-limits.ts';
import { RefusedCall } from '../wire/refusal.ts';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.ts';

export interface UpstreamLimit {
  readonly provider: string;
  readonly rate: RateQueue;
  /** How long a call waits for its turn at most. */
  readonly waitMs: number;
  /** Of an answer, where the request does not say how long it may be. */
  readonly maxTokens: number | undefined;
}

/** The upstream, whose calls begin one after another as the limit of its provider has room. */
export function limitUpstream(upstream: Upstream, limit: UpstreamLimit): Upstream {
  return {
    ...upstream,
    send: async (request) => {
      const turn = await takeTurn(request, limit);
      const answer = await upstream.send(request);
      if (answer.status === 429) noteRefusal(turn, answer);
      return answer;
    },
  };
}

export interface StreamsLimit {
  readonly provider: string;
  readonly streams: StreamLimits;
  readonly waitMs: number;
}

/** The upstream, of whose streams no more are open at once than its provider allows. */
export function limitStreams(upstream: Upstream, { provider, streams, waitMs }: StreamsLimit): Upstream {
  return {
    ...upstream,
    send: async (request) => {
      const { endpoint, body, signal } = request;
      if (endpoint === 'embeddings' || endpoint === 'count_tokens' || !asksForStream.test(textOf(body)))
        return await upstream.send(request);
      const leave = await waitFor(provider, waitMs, signal, streams.take);
      // A client that stops reading aborts the call and closes nothing.
      const forget = whenAborted(signal, leave);
      const end = () => {
        forget();
        leave();
      };
      try {
        const answer = await upstream.send(request);
        const discard = () => {
          end();
          answer.discard();
        };
        return { ...answer, body: endingWith(answer.body, end), discard };
      } catch (thrown) {
        end();
        throw thrown;
      }
    },
  };
}

/** A member of that name anywhere else costs a place for a moment, and no more. */
const asksForStream = /"stream"\s*:\s*true/;

/** Calls back once nothing more is read, also where nothing ever was. */
function endingWith(body: AsyncIterable<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          try {
            const next = await pieces.next();
            if (next.done === true) end();
            return next;
          } catch (thrown) {
            end();
            throw thrown;
          }
        },
        return: async () => {
          end();
          return (await pieces.return?.()) ?? { done: true, value: undefined };
        },
      };
    },
  };
}

async function takeTurn(request: UpstreamRequest, limit: UpstreamLimit): Promise<Turn> {
  const { provider, rate, waitMs } = limit;
  return await waitFor(provider, waitMs, request.signal, (signal) =>
    rate.take(estimate(request, limit), signal),
  );
}

/** Throws RefusedCall (429, 503), or the signal's reason. */
async function waitFor<Place>(
  provider: string,
  waitMs: number,
  signal: AbortSignal,
  take: (signal: AbortSignal) => Promise<Place>,
): Promise<Place> {
  const deadline = startCallDeadline(provider, waitMs, signal);
  try {
    return await take(deadline.signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = toRuntimeError(thrown);
    const isFull = thrown instanceof RuntimeError && code === 'PROVIDER_TIMEOUT';
    throw new RefusedCall(
      isFull
        ? {
            status: 429,
            code: 'provider_rate_limited',
            message: `${message}.`,
            retryAfter: 1,
            isRetryable: true,
          }
        : { status: 503, code: 'provider_unusable', message: `${message}.`, isRetryable: true },
      thrown,
    );
  } finally {
    deadline.end();
  }
}

/** Four bytes a token, as they mostly are, and the longest answer that is asked for; the answer's usage is not read here. */
function estimate({ endpoint, body }: UpstreamRequest, { maxTokens }: UpstreamLimit): number {
  if (endpoint === 'count_tokens') return 0;
  const input = Math.ceil(Buffer.byteLength(body) / BYTES_PER_TOKEN);
  if (endpoint === 'embeddings') return input;
  const asked = /"max_(?:completion_|output_)?tokens"\s*:\s*(\d{1,9})/.exec(textOf(body))?.[1];
  return input + Number(asked ?? maxTokens ?? DEFAULT_OUTPUT_TOKENS);
}

function textOf(body: UpstreamRequest['body']): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString();
}

const BYTES_PER_TOKEN = 4;
const DEFAULT_OUTPUT_TOKENS = 4096;

function noteRefusal(turn: Turn, { headers }: UpstreamAnswer): void {
  turn.settle(0);
  const waitMs = readRetryAfter(headers) ?? 0;
  if (waitMs > 0) turn.hold(waitMs);
}
