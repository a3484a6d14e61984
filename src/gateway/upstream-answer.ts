import { askForUsage, withoutUsage } from './call/usage.ts';
import type { CallOfCaller } from './stages.ts';
import { forwardedHeaders, mediaTypeOf } from './upstream/headers.ts';
import type { OfferedModel, UpstreamAnswer } from './upstream/upstream.ts';
import type { TokenUsage } from './wire/codec.ts';
import { invalidAnswer } from './wire/faults.ts';
import { readAll } from './wire/read-all.ts';
import { RefusedCall } from './wire/refusal.ts';

/**
 * Sends a body to the upstream that offers the model. Where the key of a call has a budget, a streamed chat is asked for its
 * usage; nothing of that is left in the answer. Throws RefusedCall, also for an answer that cannot be read.
 */
export async function askUpstream(
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

/** Refuses answers that cannot be read or must not be followed. Throws RefusedCall (502). */
function requireReadable(answer: UpstreamAnswer, provider: string): void {
  const { status, headers } = answer;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    answer.discard();
    throw invalidAnswer('it is compressed, though it was asked not to be');
  }
  if (status >= 200 && (status < 300 || status >= 400)) return;
  answer.discard();
  const message = `Provider "${provider}" answered with status ${status}, which is not followed.`;
  throw new RefusedCall({ status: 502, code: 'upstream_redirected', message, isRetryable: false });
}

/** All bytes of an answer. Throws RefusedCall (502 `answer_too_large`) when there are more than `maxBytes`. */
export async function readWhole({ body }: UpstreamAnswer, maxBytes: number): Promise<Uint8Array> {
  return await readAll(body, maxBytes, tooLarge);
}

function tooLarge(): RefusedCall {
  const message = 'The answer is larger than what the gateway reads of one.';
  return new RefusedCall({ status: 502, code: 'answer_too_large', message, isRetryable: false });
}
