import type { AnswerRecord, CallOfCaller, ReadCall, RecordedAnswer } from '../account.ts';
import { judgeOf, type PassedRequest } from '../judge/provider-hooks.ts';
import type { ClientCall, ClientReply } from '../ports.ts';
import { AnswerStream } from '../stream/answer-stream.ts';
import {
  type OpenedStream,
  type StreamedCall,
  StreamLog,
  type StreamReport,
  type StreamSettings,
} from '../stream/stream-call.ts';
import { returnedHeaders, type UpstreamAnswer } from '../upstream/upstream.ts';
import type { TokenUsage } from '../wire/codec.ts';
import { type SseEvent, SseParser } from '../wire/sse.ts';
import { streamHeaders, toDenialReply } from './reply.ts';
import { watchUsage } from './usage.ts';

/** Runs the after_call hooks on a streamed response. Throws RefusedCall if it is stopped before it begins. */
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
  account.operation?.noteFirstChunk();
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

/** The maximum silence before a keep-alive, well below the timeouts of clients and proxies. */
const WAIT_MS = 5000;

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

/** Resolves at the first event or refusal. Rejects with the signal's reason if the client disconnects before. */
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
  readonly onLeave: () => void;
  readonly onEnd: () => void;
}

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
    // Must come first: it aborts the read that `return` would wait for.
    this.#watch.onLeave();
    await this.#rest.return();
    this.#watch.onEnd();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

interface BodyOptions {
  readonly client: Pick<ClientCall, 'cut'>;
  readonly record: AnswerRecord | undefined;
  /** Called once, before the end of the response is sent. If it rejects, the connection is cut. */
  readonly end: (answer: RecordedAnswer | undefined) => Promise<void>;
  readonly report: (thrown: unknown) => void;
}

function toBody(
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

/** Whether a chunk may end the response. Such a chunk waits until the audit row is written. */
function isLast(chunk: string): boolean {
  return /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)/.test(chunk);
}

/** Aborts an unfinished body, so that the client does not take it as complete. */
function breakOff(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { cut }: Pick<ClientCall, 'cut'>,
  thrown: unknown,
): void {
  if (cut === undefined) controller.error(thrown);
  else {
    // The HTTP layer would print an errored body. The client was already informed.
    cut();
    controller.close();
  }
}

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
          account.operation?.noteFirstChunk();
          // The audit row must be written before the end of the response is sent.
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

interface StreamWatch {
  push(piece: Uint8Array): boolean;
  usage(): TokenUsage | undefined;
  end(): RecordedAnswer | undefined;
}

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
        // An endless line holds no event, so the rest is dropped.
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
const lastEvent = /^(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))$)/;
const LONGEST_LINE = 16 * 1024 * 1024;
