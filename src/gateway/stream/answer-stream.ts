import type { Decision } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import { createContradictionRefusal } from '../../provider/guard/guard-outcome.ts';
import type { StoppedAnswer } from '../../provider/guard/window-pieces.ts';
import type { Channel, StreamPart, StreamReader, StreamWriter, Substitute } from '../wire/codec.ts';
import { type Refusal, RefusedCall } from '../wire/refusal.ts';
import { plainReplaced } from '../wire/replaced-messages.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { AnswerJudge } from './answer-judge.ts';
import { type AnswerVerdict, judgeAnswer, toStop } from './answer-verdict.ts';
import { AnswerWindows } from './answer-windows.ts';
import { denialOf } from './denial.ts';
import { FrameQueue } from './frame-queue.ts';
import { Patience } from './patience.ts';
import type { StreamedCall, StreamSettings } from './stream-call.ts';
import type { StreamLog } from './stream-log.ts';
import { UpstreamEvents } from './upstream-events.ts';

/** One streamed answer on its way through the hooks to a client. */
export class AnswerStream {
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
    const held = this.#settings.heldBytes.open();
    try {
      for await (const chunk of this.#answer(held.add)) {
        if (chunk === '') continue;
        this.#log.begin();
        this.#patience.feed();
        yield chunk;
      }
    } catch (error) {
      if (this.#call.signal.aborted) return;
      const refusal = error instanceof RefusedCall ? error.refusal : internal;
      this.#log.refuse(refusal);
      if (this.#log.hasBegun) yield this.#writer.fail(refusal);
    } finally {
      held.end();
      this.#events.end(new Error('the stream has ended'));
    }
  }

  async *#answer(hold: (bytes: number) => void): AsyncGenerator<string, void> {
    for (;;) {
      const event = yield* this.#patience.during(this.#events.next());
      if (event === undefined) break;
      hold(Buffer.byteLength(event.raw));
      const part = this.#reader.push(event);
      if (part.kind === 'error') return yield* this.#relayError(event);
      if (part.kind === 'end') this.#events.complete();
      this.#frames.add(event, part);
      const stopped = part.kind === 'text' ? yield* this.#patience.during(this.#window(part)) : undefined;
      yield this.#frames.take();
      if (stopped !== undefined) return yield* this.#breakOff(stopped);
    }
    const answer = this.#reader.answer();
    this.#log.usage = answer.usage;
    yield* this.#conclude(yield* this.#patience.during(judgeAnswer(answer, this.#judge)));
  }

  /** Puts new text behind its window; returns what stopped it. */
  async #window({ deltas }: Extract<StreamPart, { kind: 'text' }>): Promise<StoppedAnswer | undefined> {
    for (const { channel, text } of deltas) {
      const stopped = await this.#windows?.add(channel, text);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  async #askAboutPiece(member: Channel['member'], piece: string) {
    const message = { role: 'assistant', content: '', [member]: piece } as const;
    const outcome = await this.#judge.askAboutPiece(message, this.#log.windows + 1);
    if (outcome.kind !== 'pass') return outcome;
    const text = plainReplaced(outcome.event.response.message)[member];
    return { kind: 'pass', text: typeof text === 'string' ? text : '' } as const;
  }

  /** Stops the upstream; observers are told of the answer as far as it came. */
  async *#breakOff(stopped: StoppedAnswer): AsyncGenerator<string, void> {
    this.#events.end(new Error('a filter stopped the answer'));
    const messages = this.#windows?.messages() ?? [];
    yield* this.#patience.during(Promise.all(messages.map((message) => this.#call.judge.ask(message))));
    yield* this.#conclude(toStop(stopped));
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
    const isAnswered = this.#settings.onDeny === 'answer' && refusal.code === 'content_filter';
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
