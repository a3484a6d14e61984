import type { CallOfCaller } from '../stages.ts';
import { returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { ClientReply } from './client-call.ts';
import { breakOff } from './reply-stream.ts';
import { streamHeaders } from './stream-headers.ts';
import { watchStream } from './stream-watch.ts';

/** Gives a stream on, piece by piece as it comes, and settles the call at its end. */
export function relayStream(
  { account, services, client }: CallOfCaller,
  answer: UpstreamAnswer,
): ClientReply {
  const { status } = answer;
  const pieces = answer.body[Symbol.asyncIterator]();
  const watch = account.countsTokens ? watchStream(account.startRecord()) : undefined;
  const end = async (outcome: 'allowed' | 'failed' | 'aborted') => {
    account.usage ??= watch?.usage();
    await account.end({ status, outcome, answer: watch?.end() });
  };
  const endWell = async () => await end(status < 400 ? 'allowed' : 'failed');
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await pieces.next();
          if (done === true) {
            await endWell();
            controller.close();
            return;
          }
          // The end of an answer must not go out before its row is kept.
          if (watch?.push(value) === true) await endWell();
          controller.enqueue(value);
        } catch (thrown) {
          await pieces.return?.().catch(() => {});
          await end(client.signal.aborted ? 'aborted' : 'failed').catch(services.report);
          breakOff(controller, client, thrown);
        }
      },
      cancel: async () => {
        await pieces.return?.();
        await end('aborted').catch(services.report);
      },
    },
    { highWaterMark: 0 },
  );
  return {
    status,
    headers: { ...returnedHeaders(answer.headers), ...streamHeaders },
    body,
  };
}
