import type { CallOfCaller } from '../stages.ts';
import { returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { TokenUsage } from '../wire/codec.ts';
import type { AnswerRecord, RecordedAnswer } from './answer-record.ts';
import type { ClientReply } from './client-call.ts';
import { breakOff } from './reply-stream.ts';
import { streamHeaders } from './stream-headers.ts';
import { watchUsage } from './usage.ts';

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

/** Looks at a stream that goes by unjudged. */
interface StreamWatch {
  /** Takes the next bytes; whether the event that ends an answer is complete with them. */
  push(piece: Uint8Array): boolean;
  usage(): TokenUsage | undefined;
  /** All that went by; undefined where nobody records it. */
  end(): RecordedAnswer | undefined;
}

/** Looks for figures and for the end of an answer, and records it. */
function watchStream(record: AnswerRecord | undefined): StreamWatch {
  const decoder = new TextDecoder();
  let line = '';
  const figures = watchUsage();
  let isLastEvent = false;
  const take = (each: string): boolean => {
    if (each.startsWith('data:')) figures.see(each.slice(5));
    const isOver = isLastEvent && each === '';
    isLastEvent = each !== '' && (isLastEvent || lastEvent.test(each));
    return isOver;
  };
  return {
    push: (piece) => {
      record?.push(piece);
      const text = decoder.decode(piece, { stream: true });
      if (!lineEnd.test(text)) {
        // A line without an end is none that tells anything.
        if (line.length < LONGEST_LINE) line += text;
        return false;
      }
      const lines = (line + text).split(/\r\n|\r|\n/);
      line = lines.pop() ?? '';
      return lines.map(take).includes(true);
    },
    usage: figures.total,
    end: () => record?.end(),
  };
}

const lineEnd = /[\r\n]/;
/** How the streams of chat, Messages and Responses begin their last event. */
const lastEvent = /^(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))$)/;
const LONGEST_LINE = 16 * 1024 * 1024;
