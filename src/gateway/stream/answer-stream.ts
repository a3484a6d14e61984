import { RuntimeError } from '../../base/errors.ts';
import { whenAborted } from '../../base/time/async.ts';
import type { Decision } from '../../contract/hook.ts';
import {
  createContradictionRefusal,
  passAnswer,
  type StoppedAnswer,
  type StreamDoor,
} from '../../models/guard/guard-outcome.ts';
import {
  type AnswerJudge,
  type AnswerVerdict,
  denialOf,
  judgeAnswer,
  toStop,
} from '../judge/provider-hooks.ts';
import type { HeldShare } from '../ports.ts';
import type { Channel, StreamPart, StreamReader, StreamWriter, Substitute } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';
import { plainReplaced } from '../wire/replaced-messages.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { StreamedCall, StreamLog, StreamSettings } from './stream-call.ts';
import { AnswerWindows, FrameQueue } from './windows.ts';

export class AnswerStream implements StreamDoor<ReadEvent, string> {
  readonly #call: StreamedCall;
  readonly #log: StreamLog;
  readonly #judge: AnswerJudge;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #events: UpstreamEvents;
  readonly #windows: AnswerWindows | undefined;
  readonly #frames: FrameQueue;
  readonly #onDeny: StreamSettings['onDeny'];
  readonly #patience: Patience;
  readonly #held: HeldShare;

  /** Throws Error if the endpoint has no streams. */
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
    this.#onDeny = settings.onDeny;
    const wait = () => this.#frames.takeFree() + this.#writer.wait();
    this.#patience = new Patience({ waitMs, signal, wait });
  }

  /** The events for the client. Never rejects. */
  async *chunks(): AsyncGenerator<string, void> {
    let isComplete = false;
    try {
      for await (const chunk of passAnswer(this)) {
        if (chunk === '') continue;
        this.#log.hasBegun = true;
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
    yield* this.#write(yield* this.#patience.during(judgeAnswer(answer, this.#judge)));
  }

  abandon(reason: unknown): void {
    this.#events.end(reason);
  }

  async *breakOff(stopped: StoppedAnswer): AsyncGenerator<string, void> {
    const messages = this.#windows?.messages() ?? [];
    yield* this.#patience.during(
      Promise.all(messages.map((message) => this.#call.judge.ask(message, this.#call.signal))),
    );
    yield* this.#write(toStop(stopped));
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

  /** Throws RefusedCall if the client gets an error, and the signal's reason once it is aborted. */
  *#write(verdict: AnswerVerdict): Generator<string, void> {
    this.#call.signal.throwIfAborted();
    switch (verdict.kind) {
      case 'refuse':
        return yield* this.#writeRefusal(verdict.refusal);
      case 'stand-in':
        this.#log.outcome = verdict.substitute.end === 'stop' ? 'modified' : 'denied';
        return yield this.#finish(this.#substitute(verdict.substitute), verdict.by);
      case 'changed':
        this.#log.outcome = 'modified';
        return yield this.#finish(verdict.body, verdict.by);
      case 'same':
        this.#log.outcome = this.#windows?.isChanged === true ? 'modified' : 'allowed';
        if (this.#windows?.isChanged === true) yield this.#finish(verdict.body, undefined);
        else yield* this.#frames.takeAll();
    }
  }

  *#writeRefusal(refusal: Refusal): Generator<string, void> {
    const { codec, model } = this.#call;
    const isAnswered = this.#onDeny === 'answer' && isSaidAsAnswer(refusal);
    const hasText = this.#windows?.sent().length ?? 0;
    if (!isAnswered || codec.substitute === undefined || hasText > 0) throw new RefusedCall(refusal);
    this.#log.refuse(refusal);
    yield this.#finish(codec.substitute({ text: refusal.message, end: 'refused' }, model), undefined);
  }

  #substitute({ text, end }: Substitute): string {
    const { codec, model } = this.#call;
    if (codec.substitute === undefined) throw new Error(`${codec.name} has no texts as answers`);
    const sent = this.#windows?.sent().find(({ choice, member }) => choice === 0 && member === 'content');
    const before = sent === undefined ? '' : `${sent.sent}\n\n`;
    return codec.substitute({ text: before + text, end }, model);
  }

  /** Throws RefusedCall if the client already has text that the response does not begin with. */
  #finish(body: string, by: Decision | undefined): string {
    try {
      return this.#writer.finish(body);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      if (by === undefined) throw new RefusedCall(contradicted, error);
      throw new RefusedCall(denialOf(createContradictionRefusal(by), 'after_call'), error);
    }
  }
}

interface ReadEvent {
  readonly event: SseEvent;
  readonly part: StreamPart;
}

class ToldError extends Error {
  readonly event: SseEvent;

  constructor(event: SseEvent) {
    super('the upstream returned an error');
    this.event = event;
  }
}

const FRAME_BYTES = 'data: \n\n'.length;

const internal: Refusal = refusal(500, 'internal_error', 'The gateway failed, so the answer is withheld.');

const upstreamError: Refusal = refusal(
  502,
  'upstream_failed',
  'The upstream returned an error in its answer.',
  {
    isRetryable: true,
  },
);

class UpstreamEvents {
  readonly #events: AsyncIterator<SseEvent>;
  readonly #abandon: (reason: unknown) => void;
  #isComplete = false;

  constructor(events: AsyncIterable<SseEvent>, abandon: (reason: unknown) => void) {
    this.#events = events[Symbol.asyncIterator]();
    this.#abandon = abandon;
  }

  /** Marks the response as complete. Later upstream failures no longer matter. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Returns undefined at the end. Throws RefusedCall if the upstream fails. */
  async next(): Promise<SseEvent | undefined> {
    try {
      const { done, value } = await (this.#isComplete ? this.#nextSoon() : this.#events.next());
      return done === true ? undefined : value;
    } catch (error) {
      if (this.#isComplete) return undefined;
      if (error instanceof RefusedCall) throw error;
      throw new RefusedCall(brokenOff, error);
    }
  }

  end(reason: unknown): void {
    this.#abandon(reason);
    // Not awaited, because the upstream may never respond to the cancellation.
    void this.#events.return?.().then(undefined, () => {});
  }

  async #nextSoon(): Promise<IteratorResult<SseEvent, unknown>> {
    const next = this.#events.next();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<{ readonly done: true; readonly value: undefined }>((resolve) => {
      timer = setTimeout(() => resolve({ done: true, value: undefined }), afterEndMs);
    });
    try {
      return await Promise.race([next, late]);
    } finally {
      clearTimeout(timer);
      next.catch(() => {});
    }
  }
}

/** How long to wait for events after a complete response, such as the usage. */
const afterEndMs = 2000;

const brokenOff: Refusal = refusal(
  502,
  'upstream_failed',
  'The upstream ended its answer early, so it is withheld.',
  { isRetryable: true },
);

interface PatienceOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly wait: () => string;
}

class Patience {
  readonly #options: PatienceOptions;
  #fedAt = performance.now();

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  feed(): void {
    this.#fedAt = performance.now();
  }

  /** Returns the result of the work and yields keep-alives meanwhile. Throws the signal's reason once it is aborted. */
  async *during<T>(work: Promise<T>): AsyncGenerator<string, T> {
    for (;;) {
      const done = await this.#within(work);
      if (done !== undefined) {
        if (this.#isHungry()) yield* this.#feedWait();
        return done.value;
      }
      yield* this.#feedWait();
    }
  }

  #isHungry(): boolean {
    return performance.now() - this.#fedAt >= this.#options.waitMs;
  }

  *#feedWait(): Generator<string> {
    if (!this.#isHungry()) return;
    this.feed();
    const text = this.#options.wait();
    if (text !== '') yield text;
  }

  #within<T>(work: Promise<T>): Promise<{ readonly value: T } | undefined> {
    const { waitMs, signal } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => resolve(undefined)), waitMs);
      const forget = whenAborted(signal, () => settle(() => reject(signal.reason)));
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        forget();
        act();
      };
      work.then(
        (value) => settle(() => resolve({ value })),
        (error: unknown) => settle(() => reject(error)),
      );
      if (signal.aborted) settle(() => reject(signal.reason));
    });
  }
}

const contradicted: Refusal = refusal(
  400,
  'content_filter',
  'The whole answer does not begin with the part that was already sent.',
);
