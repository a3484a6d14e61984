import { returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { TokenUsage } from '../wire/codec.ts';
import type { ClientReply } from './client-call.ts';
import type { CallOfCaller } from './stages.ts';
import { streamHeaders } from './stream-headers.ts';
import { joinUsage, usageIn } from './usage.ts';

/** Gives a stream on, piece by piece as it comes, and settles the call at its end. */
export function relayStream(
  { account, services, client }: CallOfCaller,
  answer: UpstreamAnswer,
): ClientReply {
  const { status } = answer;
  const pieces = answer.body[Symbol.asyncIterator]();
  const watch = account.countsTokens || account.keepsBodies ? watchStream() : undefined;
  const end = async (outcome: 'allowed' | 'failed' | 'aborted') => {
    account.usage = joinUsage(account.usage, watch?.usage());
    await account.end({ status, outcome, answer: watch?.text() });
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await pieces.next();
          if (done !== true) {
            watch?.push(value);
            controller.enqueue(value);
            return;
          }
          await end(status < 400 ? 'allowed' : 'failed');
          controller.close();
        } catch (thrown) {
          await end(client.signal.aborted ? 'aborted' : 'failed').catch(services.report);
          // Cuts the connection: the client must not take a part for the whole.
          controller.error(thrown);
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

interface StreamWatch {
  push(piece: Uint8Array): void;
  usage(): TokenUsage | undefined;
  /** All that went by. */
  text(): string;
}

/** Looks for figures in a stream that goes by. */
function watchStream(): StreamWatch {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let line = '';
  let found: TokenUsage | undefined;
  return {
    push: (piece) => {
      const text = decoder.decode(piece, { stream: true });
      texts.push(text);
      const lines = (line + text).split(/\r\n|\r|\n/);
      line = lines.pop() ?? '';
      for (const each of lines) {
        if (each.startsWith('data:')) found = joinUsage(found, usageIn(each.slice(5)));
      }
    },
    usage: () => found,
    text: () => texts.join(''),
  };
}
