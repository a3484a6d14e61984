import type { ReadCall } from '../stages.ts';
import { AnswerStream } from '../stream/answer-stream.ts';
import type { OpenedStream, StreamedCall, StreamReport, StreamSettings } from '../stream/stream-call.ts';
import { StreamLog } from '../stream/stream-log.ts';
import { returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { SseEvent } from '../wire/sse.ts';
import { SseParser } from '../wire/sse-parser.ts';
import type { PassedRequest } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { judgeOf } from './judge-whole.ts';
import { toBody } from './reply-stream.ts';
import { toDenialReply } from './stand-in.ts';
import { streamHeaders } from './stream-headers.ts';

/** Takes a streamed answer through the after_call hooks. Throws RefusedCall when it is stopped before it has begun. */
export async function judgeStream(
  call: ReadCall,
  passed: PassedRequest,
  answer: UpstreamAnswer,
): Promise<ClientReply> {
  const opened = await open(call, passed, answer);
  if (opened.kind === 'refused') {
    note(call, opened.report);
    return await toDenialReply(call, opened.refusal);
  }
  const { account, client } = call;
  const body = toBody(opened.chunks, {
    client,
    record: account.startRecord(),
    end: async (answer) => {
      const report = await opened.report;
      note(call, report);
      const { outcome, refusal } = report;
      const isFailed = outcome === 'failed' || outcome === 'aborted';
      await account.end({
        status: refusal?.status ?? 200,
        outcome: isFailed ? outcome : 'allowed',
        answer,
      });
    },
    report: call.services.report,
  });
  return { status: 200, headers: { ...returnedHeaders(answer.headers), ...streamHeaders }, body };
}

async function open(call: ReadCall, passed: PassedRequest, answer: UpstreamAnswer): Promise<OpenedStream> {
  const { services, client, request } = call;
  const { config, codecs, rules, heldBytes } = services;
  return await openStream(
    {
      codec: codecs[client.endpoint],
      rules,
      request,
      model: request.model,
      events: readEvents(answer, config.limits.heldBytes),
      judge: judgeOf(call, passed),
      isJudged: call.hooks.filters('after_call') || services.tools !== undefined,
      signal: client.signal,
      abandon: answer.discard,
    },
    {
      windowChars: config.stream === 'windowed' ? config.window : undefined,
      onDeny: config.onDeny,
      waitMs: WAIT_MS,
      heldBytes,
    },
  );
}

/** How long a client hears nothing: well below what clients and proxies wait. */
const WAIT_MS = 5000;

/** The decisions, figures and times of a stream. */
function note({ account }: ReadCall, { decisions, usage, times }: StreamReport): void {
  for (const decision of decisions) account.decided('after_call', decision);
  account.usage ??= usage;
  account.tookStream(times);
}

async function* readEvents({ body }: UpstreamAnswer, maxChars: number): AsyncGenerator<SseEvent> {
  const parser = new SseParser(maxChars);
  for await (const chunk of body) yield* parser.push(chunk);
  yield* parser.end();
}

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
