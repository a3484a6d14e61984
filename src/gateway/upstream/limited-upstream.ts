import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { startCallDeadline } from '../../provider/open/call-deadline.ts';
import type { RateQueue, Turn } from '../../provider/rate/rate-queue.ts';
import { readRetryAfter } from '../../provider/rate/retry-after.ts';
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
    close: upstream.close,
    send: async (request) => {
      const turn = await takeTurn(request, limit);
      const answer = await upstream.send(request);
      if (answer.status === 429) noteRefusal(turn, answer);
      return answer;
    },
  };
}

async function takeTurn(request: UpstreamRequest, limit: UpstreamLimit): Promise<Turn> {
  const { provider, rate, waitMs } = limit;
  const deadline = startCallDeadline(provider, waitMs, request.signal);
  try {
    return await rate.take(estimate(request, limit), deadline.signal);
  } catch (thrown) {
    request.signal.throwIfAborted();
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
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const asked = /"max_(?:completion_|output_)?tokens"\s*:\s*(\d{1,9})/.exec(text)?.[1];
  return input + Number(asked ?? maxTokens ?? DEFAULT_OUTPUT_TOKENS);
}

const BYTES_PER_TOKEN = 4;
const DEFAULT_OUTPUT_TOKENS = 4096;

function noteRefusal(turn: Turn, { headers }: UpstreamAnswer): void {
  turn.settle(0);
  const waitMs = readRetryAfter(headers) ?? 0;
  if (waitMs > 0) turn.hold(waitMs);
}
