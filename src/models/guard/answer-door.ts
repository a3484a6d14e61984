import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { createPieceEvent } from './after-call-event.ts';
import type { Decisions } from './decision-report.ts';
import { askHooks, createContradictionRefusal } from './guard-outcome.ts';
import {
  endFailed,
  endReleased,
  endWithheld,
  type GuardedStream,
  runAfterCallOnCollected,
} from './guarded-stream.ts';
import { type StreamEnd, streamContent } from './output-stream.ts';
import type { StreamDoor } from './pass-answer.ts';
import { StreamCollector } from './stream-collector.ts';
import { TextWindow } from './text-window.ts';
import { interruptedEnd } from './upstream.ts';
import { type PieceVerdict, releasePieces, type StoppedAnswer } from './window-pieces.ts';

type Part = LanguageModelV4StreamPart;

/**
 * Streams an answer to the AI SDK. Without a window nothing goes out before the after_call hooks have seen the whole of
 * it; behind one its text does, as one part however many the model streamed.
 */
export class AnswerDoor implements StreamDoor<Part, Part> {
  readonly #passage: GuardedStream;
  readonly #window: TextWindow | undefined;
  readonly #collector = new StreamCollector();
  #end: StreamEnd = interruptedEnd;
  #windows = 0;
  /** Released, and not yet sent. */
  #released = '';
  #sentChars = 0;
  #isTextOpen = false;

  constructor(passage: GuardedStream, windowChars: number | undefined) {
    this.#passage = passage;
    this.#window = windowChars === undefined ? undefined : new TextWindow(windowChars);
  }

  async *next(): AsyncGenerator<Part, Part | undefined> {
    for (;;) {
      const event = await this.#passage.upstream.next();
      if (event.kind === 'held') return event.part;
      if (event.kind === 'failed') throw new UpstreamFailure(event.error);
      if (event.kind === 'finished') {
        this.#end = event.end;
        return undefined;
      }
      yield event.part;
    }
  }

  async *take(part: Part): AsyncGenerator<Part, StoppedAnswer | undefined> {
    this.#collector.add(part);
    if (this.#window === undefined || part.type !== 'text-delta') return undefined;
    this.#window.push(part.delta);
    const { text, stopped } = await releasePieces(this.#window, (piece) => this.#judgePiece(piece));
    this.#released += text;
    return stopped;
  }

  *release(): Generator<Part> {
    const text = this.#released;
    this.#released = '';
    yield* this.#emit(text);
  }

  async *conclude(): AsyncGenerator<Part, void> {
    const end = this.#end;
    const outcome = await runAfterCallOnCollected(this.#passage, this.#collector, end);
    if (outcome.kind === 'refuse' || outcome.kind === 'answer') yield* this.#withhold(outcome);
    else {
      const content = outcome.kind === 'same' ? this.#collector.content() : outcome.content;
      if (!this.#continuesReleased(content))
        return yield* this.#withhold(createContradictionRefusal(outcome.decision));
      yield* this.#finishText(content);
      const parts = outcome.kind === 'same' ? this.#collector.parts() : streamContent(outcome.content);
      const isLeft = this.#window === undefined ? () => true : isNoText;
      const decisions = this.#decisions(outcome.decision);
      yield* endReleased(this.#passage, outcome, { parts: parts.filter(isLeft), end, decisions });
    }
    await this.#passage.upstream.drain();
  }

  abandon(reason: unknown): void {
    this.#passage.upstream.abandon(reason);
  }

  async *breakOff(stopped: StoppedAnswer): AsyncGenerator<Part, void> {
    this.#passage.signal.throwIfAborted();
    await runAfterCallOnCollected(this.#passage, this.#collector, interruptedEnd);
    yield* this.#withhold(stopped);
  }

  *#withhold(withheld: StoppedAnswer): Generator<Part> {
    this.#passage.signal.throwIfAborted();
    yield* this.#closeText();
    yield* endWithheld(withheld, this.#decisions(withheld.decision), this.#end.usage);
  }

  /** A fault of the guard itself ends the stream with INTERNAL, without answer text. */
  async *fail(error: unknown): AsyncGenerator<Part, void> {
    if (error instanceof UpstreamFailure) yield* this.#closeText();
    const fault = new RuntimeError('INTERNAL', 'the guard failed, so the answer is withheld');
    yield* endFailed(this.#passage, error instanceof UpstreamFailure ? error.cause : fault);
  }

  #continuesReleased(content: readonly LanguageModelV4Content[]): boolean {
    return this.#window === undefined || textOf(content).startsWith(this.#window.released);
  }

  /** The text that is not out yet, and its end, with the model's citations and metadata when it is one text. */
  *#finishText(content: readonly LanguageModelV4Content[]): Generator<Part> {
    if (this.#window === undefined) return;
    yield* this.#emit(textOf(content).slice(this.#sentChars));
    const texts = content.filter((part) => part.type === 'text');
    yield* this.#closeText(texts.length === 1 ? texts[0] : undefined);
  }

  *#closeText(text: Partial<TextContent> = {}): Generator<Part> {
    if (!this.#isTextOpen) return;
    this.#isTextOpen = false;
    const { citations, providerMetadata: metadata } = text;
    yield {
      type: 'text-end',
      id: textPartId,
      ...(citations && { citations }),
      ...(metadata && { providerMetadata: metadata }),
    };
  }

  *#emit(text: string): Generator<Part> {
    if (text === '') return;
    if (!this.#isTextOpen) yield { type: 'text-start', id: textPartId };
    this.#isTextOpen = true;
    this.#sentChars += text.length;
    yield { type: 'text-delta', id: textPartId, delta: text };
  }

  async #judgePiece(piece: string): Promise<PieceVerdict> {
    const { fire, admitted, signal, latencyMs } = this.#passage;
    this.#windows += 1;
    const message: ChatMessage = { role: 'assistant', content: piece };
    const { request } = admitted;
    const event = createPieceEvent({ request, message, latencyMs: latencyMs() }, this.#windows);
    const outcome = await askHooks(fire, event, { signal, filtersOnly: true });
    return outcome.kind === 'pass' ? { kind: 'pass', text: outcome.event.response.message.content } : outcome;
  }

  #decisions(after: Decision): Decisions {
    const windows = this.#window === undefined ? {} : { windows: this.#windows };
    return { before: this.#passage.admitted.decision, after, ...windows };
  }
}

/** What the model threw, so that it is not taken for a fault of the guard. */
class UpstreamFailure extends Error {
  constructor(cause: unknown) {
    super('the model failed', { cause });
  }
}

type TextContent = Extract<LanguageModelV4Content, { type: 'text' }>;

const textPartId = 'signalbox-text';

function textOf(content: readonly LanguageModelV4Content[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function isNoText({ type }: Part): boolean {
  return type !== 'text-start' && type !== 'text-delta' && type !== 'text-end';
}
