import { passAnswer, type StreamDoor } from '../../models/guard/pass-answer.ts';
import type { StoppedAnswer } from '../../models/guard/window-pieces.ts';
import type { Channel, StreamPart, StreamReader, StreamWriter } from '../wire/codec.ts';
import { type Refusal, RefusedCall } from '../wire/refusal.ts';
import { plainReplaced } from '../wire/replaced-messages.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { AnswerJudge } from './answer-judge.ts';
import { judgeAnswer, toStop } from './answer-verdict.ts';
import { AnswerWindows } from './answer-windows.ts';
import { FrameQueue } from './frame-queue.ts';
import type { HeldShare } from './held-bytes.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { Patience } from './patience.ts';
import type { StreamedCall, StreamSettings } from './stream-call.ts';
import type { StreamLog } from './stream-log.ts';
import { UpstreamEvents } from './upstream-events.ts';

/** One streamed answer on its way through the hooks to a client. */
export class AnswerStream implements StreamDoor<ReadEvent, string> {
  readonly #call: StreamedCall;
  readonly #log: StreamLog;
  readonly #judge: AnswerJudge;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #events: UpstreamEvents;
  readonly #windows: AnswerWindows | undefined;
  readonly #frames: FrameQueue;
  readonly #outcome: OutcomeWriter;
  readonly #patience: Patience;
  readonly #held: HeldShare;

  /** Throws Error when the endpoint has no streams. */
  constructor(call: StreamedCall, settings: StreamSettings, log: StreamLog) {
    const { codec, rules, request, signal } = call;
    if (codec.stream === undefined) throw new Error(`${codec.name} has no streams`);
    this.#call = call;
    this.#log = log;
    this.#judge = log.watch(call.judge, signal);
    this.#reader = codec.stream.reader(rules, request);
    this.#writer = codec.stream.writer(request);
    this.#events = new UpstreamEvents(call.events, call.abandon);
    this.#held = settings.heldBytes.open();
    const { waitMs } = settings;
    const isJudged = call.isJudged ?? true;
    const windowChars = isJudged ? settings.windowChars : undefined;
    this.#windows =
      windowChars === undefined
        ? undefined
        : new AnswerWindows(windowChars, (...about) => this.#askAboutPiece(...about));
    this.#frames = new FrameQueue(this.#writer, this.#windows ?? (isJudged ? 'nothing' : 'everything'));
    this.#outcome = new OutcomeWriter({
      call,
      settings,
      log,
      writer: this.#writer,
      windows: this.#windows,
      frames: this.#frames,
    });
    const wait = () => this.#frames.takeFree() + this.#writer.wait();
    this.#patience = new Patience({ waitMs, signal, wait });
  }

  /** What the client is sent. Never rejects. */
  async *chunks(): AsyncGenerator<string, void> {
    let isComplete = false;
    try {
      for await (const chunk of passAnswer(this)) {
        if (chunk === '') continue;
        this.#log.begin();
        this.#patience.feed();
        yield chunk;
      }
      isComplete = true;
    } finally {
      if (!isComplete) this.#log.breakOff();
      this.#held.end();
      this.abandon(new Error('the stream has ended'));
    }
  }

  async *next(): AsyncGenerator<string, ReadEvent | undefined> {
    const event = yield* this.#patience.during(this.#events.next());
    if (event === undefined) return undefined;
    this.#held.add(Buffer.byteLength(event.data) + FRAME_BYTES);
    const part = this.#reader.push(event);
    if (part.kind === 'error') throw new ToldError(event);
    if (part.kind === 'end') this.#events.complete();
    return { event, part };
  }

  async *take({ event, part }: ReadEvent): AsyncGenerator<string, StoppedAnswer | undefined> {
    this.#frames.add(event, part);
    if (part.kind !== 'text' || this.#windows === undefined) return undefined;
    return yield* this.#patience.during(this.#windows.add(part.deltas));
  }

  *release(): Generator<string> {
    yield this.#frames.take();
  }

  async *conclude(): AsyncGenerator<string, void> {
    const answer = this.#reader.answer();
    this.#log.usage = answer.usage;
    yield* this.#outcome.write(yield* this.#patience.during(judgeAnswer(answer, this.#judge)));
  }

  abandon(reason: unknown): void {
    this.#events.end(reason);
  }

  async *breakOff(stopped: StoppedAnswer): AsyncGenerator<string, void> {
    const messages = this.#windows?.messages() ?? [];
    yield* this.#patience.during(
      Promise.all(messages.map((message) => this.#call.judge.ask(message, this.#call.signal))),
    );
    yield* this.#outcome.write(toStop(stopped));
  }

  async *fail(thrown: unknown): AsyncGenerator<string, void> {
    let error = thrown;
    try {
      if (thrown instanceof ToldError) return yield* this.#relayError(thrown.event);
    } catch (inner) {
      error = inner;
    }
    if (this.#call.signal.aborted) return;
    const refusal = error instanceof RefusedCall ? error.refusal : internal;
    this.#log.refuse(refusal);
    if (this.#log.hasBegun) yield this.#writer.fail(refusal);
  }

  async #askAboutPiece(member: Channel['member'], piece: string) {
    const message = { role: 'assistant', content: '', [member]: piece } as const;
    const outcome = await this.#judge.askAboutPiece(message, this.#log.windows + 1);
    if (outcome.kind !== 'pass') return outcome;
    const text = plainReplaced(outcome.event.response.message)[member];
    return { kind: 'pass', text: typeof text === 'string' ? text : '' } as const;
  }

  /** An error that the upstream tells in its stream: nothing that is held is told, and its text is judged. */
  async *#relayError(event: SseEvent): AsyncGenerator<string, void> {
    const told = this.#call.codec.readError(event.data ?? '');
    const verdict = yield* this.#patience.during(judgeAnswer(told, this.#judge));
    this.#call.signal.throwIfAborted();
    if (verdict.kind === 'refuse') throw new RefusedCall(verdict.refusal);
    if (verdict.kind !== 'same') throw new RefusedCall(upstreamError);
    this.#log.outcome = 'failed';
    this.#log.refusal = upstreamError;
    yield this.#frames.takeFree() + this.#writer.verbatim(event);
  }
}

/** An event, and what it tells. */
interface ReadEvent {
  readonly event: SseEvent;
  readonly part: StreamPart;
}

/** The upstream tells an error in its stream. */
class ToldError extends Error {
  readonly event: SseEvent;

  constructor(event: SseEvent) {
    super('the upstream tells an error');
    this.event = event;
  }
}

/** What an event takes beside its data. */
const FRAME_BYTES = 'data: \n\n'.length;

const internal: Refusal = {
  status: 500,
  code: 'internal_error',
  message: 'The gateway failed, so the answer is withheld.',
  isRetryable: false,
};

const upstreamError: Refusal = {
  status: 502,
  code: 'upstream_failed',
  message: 'The upstream told an error in its answer.',
  isRetryable: true,
};
