import { isTransientStatus } from '../../models/provider-error.ts';
import type { CallOfCaller } from '../stages.ts';
import { mediaTypeOf } from '../upstream/headers.ts';
import type { OfferedModel, UpstreamAnswer } from '../upstream/upstream.ts';
import { readWhole } from '../upstream-answer.ts';
import { beginStream } from './begun-stream.ts';
import { UpstreamFault } from './upstream-fault.ts';

/**
 * An answer once it has begun: a stream with the first event that tells something of it, any other when it is whole. Until then
 * nobody has anything of it, so that somebody else may be asked. Throws UpstreamFault, RefusedCall.
 */
export async function whenBegun(
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
