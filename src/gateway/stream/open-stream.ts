import { AnswerStream } from './answer-stream.ts';
import type { OpenedStream, StreamedCall, StreamReport, StreamSettings } from './stream-call.ts';
import { StreamLog } from './stream-log.ts';

/**
 * Takes a streamed answer through the after_call hooks. Resolves when the first event is to be sent, or when it is
 * clear that none will be. Rejects with the signal's reason when the client goes away before.
 */
export async function openStream(call: StreamedCall, settings: StreamSettings): Promise<OpenedStream> {
  const log = new StreamLog();
  const gone = new AbortController();
  const signal = AbortSignal.any([call.signal, gone.signal]);
  const chunks = new AnswerStream({ ...call, signal }, settings, log).chunks();
  const first = await chunks.next();
  if (first.done === true) {
    call.signal.throwIfAborted();
    if (log.refusal !== undefined) return { kind: 'refused', refusal: log.refusal, report: log.report() };
  }
  const { promise: report, resolve } = Promise.withResolvers<StreamReport>();
  const watch = { onLeave: () => gone.abort(), onEnd: () => resolve(log.report()) };
  return { kind: 'stream', chunks: new Chunks(first, chunks, watch), report };
}

interface Watch {
  /** The client takes no more. */
  readonly onLeave: () => void;
  readonly onEnd: () => void;
}

/** Chunks of which the first one has been asked for already. */
class Chunks implements AsyncIterableIterator<string> {
  #first: IteratorResult<string, void> | undefined;
  readonly #rest: AsyncGenerator<string, void>;
  readonly #watch: Watch;

  constructor(first: IteratorResult<string, void>, rest: AsyncGenerator<string, void>, watch: Watch) {
    this.#first = first;
    this.#rest = rest;
    this.#watch = watch;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const result = this.#first ?? (await this.#rest.next());
    this.#first = undefined;
    if (result.done !== true) return result;
    this.#watch.onEnd();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    // Before: what the rest waits for ends with it.
    this.#watch.onLeave();
    await this.#rest.return();
    this.#watch.onEnd();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
