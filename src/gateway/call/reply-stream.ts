import type { AnswerRecord, RecordedAnswer } from './answer-record.ts';
import type { ClientCall } from './client-call.ts';

interface BodyOptions {
  readonly client: Pick<ClientCall, 'cut'>;
  /** What records the body; undefined: nothing does. */
  readonly record: AnswerRecord | undefined;
  /**
   * Called once, when the chunks have ended or the client has gone away, and before the end of the answer goes out. When it
   * rejects, the connection is cut.
   */
  readonly end: (answer: RecordedAnswer | undefined) => Promise<void>;
  /** Told of what `end` throws when nobody can be told any more. */
  readonly report: (thrown: unknown) => void;
}

/** The bytes of a streamed answer. */
export function toBody(
  chunks: AsyncIterableIterator<string>,
  { client, record, end, report }: BodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let last: string | undefined;
  const endOnce = async () => await end(record?.end());
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next();
    if (done === true) {
      await endOnce();
      if (last !== undefined) controller.enqueue(encoder.encode(last));
      controller.close();
      return;
    }
    record?.push(value);
    const before = last;
    last = record !== undefined && isLast(value) ? value : undefined;
    const text = (before ?? '') + (last === undefined ? value : '');
    if (text === '') await next(controller);
    else controller.enqueue(encoder.encode(text));
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          await next(controller);
        } catch (thrown) {
          await chunks.return?.();
          await endOnce().catch(report);
          breakOff(controller, client, thrown);
        }
      },
      cancel: async () => {
        await chunks.return?.();
        await endOnce().catch(report);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether a chunk may hold the end of an answer, which must not go out before its row is kept. */
function isLast(chunk: string): boolean {
  return /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)/.test(chunk);
}

/** Ends a body that cannot be finished, so that the client does not take a part for the whole. */
export function breakOff(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { cut }: Pick<ClientCall, 'cut'>,
  thrown: unknown,
): void {
  if (cut === undefined) controller.error(thrown);
  else {
    // A body with an error would make the HTTP layer print it; who calls was told already what there is to tell.
    cut();
    controller.close();
  }
}
