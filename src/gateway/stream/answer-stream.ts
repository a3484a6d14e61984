import type { Decision } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import { createContradictionRefusal } from '../../provider/guard/guard-outcome.ts';
import { passAnswer, type StreamDoor } from '../../provider/guard/pass-answer.ts';
import type { StoppedAnswer } from '../../provider/guard/window-pieces.ts';
import type { Channel, StreamPart, StreamReader, StreamWriter, Substitute } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall } from '../wire/refusal.ts';
import { plainReplaced } from '../wire/replaced-messages.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { AnswerJudge } from './answer-judge.ts';
import { type AnswerVerdict, judgeAnswer, toStop } from './answer-verdict.ts';
import { AnswerWindows } from './answer-windows.ts';
import { denialOf } from './denial.ts';
import { FrameQueue } from './frame-queue.ts';
import type { HeldShare } from './held-bytes.ts';
import { Patience } from './patience.ts';
import type { StreamedCall, StreamSettings } from './stream-call.ts';
import type { StreamLog } from './stream-log.ts';
import { UpstreamEvents } from './upstream-events.ts';

/** One streamed answer on its way through the hooks to a client. */
export class AnswerStream implements StreamDoor<ReadEvent, string> {
  readonly #call: StreamedCall;
  readonly #settings: StreamSettings;
  readonly #log: StreamLog;
  readonly #judge: AnswerJudge;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #events: UpstreamEvents;
  readonly #windows: AnswerWindows | undefined;
  readonly #frames: FrameQueue;
  readonly #patience: Patience;
  readonly #held: HeldShare;

  /** Throws Error when the endpoint has no streams. */
  constructor(call: StreamedCall, settings: StreamSettings, log: StreamLog) {
    const { codec, rules, request, signal } = call;
    if (codec.stream === undefined) throw new Error(`${codec.name} has no streams`);
    this.#call = call;
    this.#settings = settings;
    this.#log = log;
    this.#judge = log.watch(call.judge);
    this.#reader = codec.stream.reader(rules, request);
    this.#writer = codec.stream.writer(request);
    this.#events = new UpstreamEvents(call.events, call.abandon);
    this.#held = settings.heldBytes.open();
    const { windowChars, waitMs } = settings;
    this.#windows =
      windowChars === undefined
        ? undefined
        : new AnswerWindows(windowChars, (...about) => this.#askAboutPiece(...about));
    this.#frames = new FrameQueue(this.#writer, this.#windows);
    const wait = () => this.#frames.takeFree() + this.#writer.wait();
    this.#patience = new Patience({ waitMs, signal, wait });
  }

  /** What the client is sent. Never rejects. */
  async *chunks(): AsyncGenerator<string, void> {
    try {
      for await (const chunk of passAnswer(this)) {
        if (chunk === '') continue;
        this.#log.begin();
        this.#patience.feed();
        yield chunk;
      }
    } finally {
      this.#held.end();
      this.abandon(new Error('the stream has ended'));
    }
  }

  async *next(): AsyncGenerator<string, ReadEvent | undefined> {
    const event = yield* this.#patience.during(this.#events.next());
    if (event === undefined) return undefined;
    this.#held.add(Buffer.byteLength(event.raw));
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
    yield* this.#conclude(yield* this.#patience.during(judgeAnswer(answer, this.#judge)));
  }

  abandon(reason: unknown): void {
    this.#events.end(reason);
  }

  async *breakOff(stopped: StoppedAnswer): AsyncGenerator<string, void> {
    const messages = this.#windows?.messages() ?? [];
    yield* this.#patience.during(Promise.all(messages.map((message) => this.#call.judge.ask(message))));
    yield* this.#conclude(toStop(stopped));
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

  *#conclude(verdict: AnswerVerdict): Generator<string, void> {
    this.#call.signal.throwIfAborted();
    switch (verdict.kind) {
      case 'refuse':
        return yield* this.#refuse(verdict.refusal);
      case 'stand-in':
        this.#log.outcome = verdict.substitute.end === 'stop' ? 'modified' : 'denied';
        return yield this.#finish(this.#substitute(verdict.substitute), verdict.by);
      case 'changed':
        this.#log.outcome = 'modified';
        return yield this.#finish(verdict.body, verdict.by);
      case 'same':
        this.#log.outcome = 'allowed';
        if (this.#windows?.isChanged === true) yield this.#finish(verdict.body, undefined);
        else yield* this.#frames.takeAll();
    }
  }

  *#refuse(refusal: Refusal): Generator<string, void> {
    const { codec, model } = this.#call;
    const isAnswered = this.#settings.onDeny === 'answer' && isSaidAsAnswer(refusal);
    const hasText = this.#windows?.sent().length ?? 0;
    if (!isAnswered || codec.substitute === undefined || hasText > 0) throw new RefusedCall(refusal);
    this.#log.refuse(refusal);
    yield this.#finish(codec.substitute({ text: refusal.message, end: 'refused' }, model), undefined);
  }

  /** The body of a stand-in, behind the text that the client has already. */
  #substitute({ text, end }: Substitute): string {
    const { codec, model } = this.#call;
    if (codec.substitute === undefined) throw new Error(`${codec.name} has no texts as answers`);
    const sent = this.#windows?.sent().find(({ choice, member }) => choice === 0 && member === 'content');
    const before = sent === undefined ? '' : `${sent.window.released.slice(0, sent.sent)}\n\n`;
    return codec.substitute({ text: before + text, end }, model);
  }

  /** Throws RefusedCall when the client has something that the answer does not begin with. */
  #finish(body: string, by: Decision | undefined): string {
    try {
      return this.#writer.finish(body);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      if (by === undefined) throw new RefusedCall(contradicted, error);
      throw new RefusedCall(denialOf(createContradictionRefusal(by), 'after_call'), error);
    }
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

const contradicted: Refusal = {
  status: 400,
  code: 'content_filter',
  message: 'The whole answer does not begin with what had already gone out of it.',
  isRetryable: false,
};
