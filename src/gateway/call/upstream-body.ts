import type { UpstreamAnswer } from '../upstream/upstream.ts';
import { invalidAnswer } from '../wire/faults.ts';
import { RefusedCall } from '../wire/refusal.ts';

/** Refuses answers that cannot be read or must not be followed. Throws RefusedCall (502). */
export function requireReadable(answer: UpstreamAnswer, provider: string): void {
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
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}

function tooLarge(): RefusedCall {
  const message = 'The answer is larger than what the gateway reads of one.';
  return new RefusedCall({ status: 502, code: 'answer_too_large', message, isRetryable: false });
}
