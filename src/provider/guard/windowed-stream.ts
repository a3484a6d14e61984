import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { RuntimeError } from '../../errors.ts';
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
import { StreamCollector } from './stream-collector.ts';
import { TextWindow } from './text-window.ts';
import { interruptedEnd } from './upstream.ts';
import { type PieceVerdict, releasePieces, type StoppedAnswer } from './window-pieces.ts';

type Part = LanguageModelV4StreamPart;

/**
 * Streams an answer's text behind a window that the after_call filters have seen; everything else waits for
 * their decision on the whole answer. The text is one part, however many the model streamed.
 */
export async function* streamWindowedAnswer(
  stream: GuardedStream,
  windowChars: number,
): AsyncGenerator<Part> {
  const { upstream } = stream;
  const answer = new WindowedAnswer(stream, windowChars);
  for (;;) {
    const event = await upstream.next();
    if (event.kind === 'free') yield event.part;
    else if (event.kind === 'failed') {
      yield* answer.closeText();
      return yield* endFailed(stream, event.error);
    } else if (event.kind === 'finished') {
      yield* answer.finish(event.end);
      return await upstream.drain();
    } else {
      yield* answer.addPart(event.part);
      if (answer.isWithheld) return;
    }
  }
}

/** The state of a windowed answer: collected parts and released text. */
class WindowedAnswer {
  isWithheld = false;
  readonly #passage: GuardedStream;
  readonly #window: TextWindow;
  readonly #collector = new StreamCollector();
  #windows = 0;
  #isTextOpen = false;

  constructor(passage: GuardedStream, windowChars: number) {
    this.#passage = passage;
    this.#window = new TextWindow(windowChars);
  }

  async *addPart(part: Part): AsyncGenerator<Part> {
    this.#collector.add(part);
    if (part.type !== 'text-delta') return;
    this.#window.push(part.delta);
    const before = this.#window.released.length;
    const stopped = await releasePieces(this.#window, (piece) => this.#judgePiece(piece));
    yield* this.#emit(this.#window.released.slice(before));
    if (stopped !== undefined) yield* this.#breakOff(stopped);
  }

  async *finish(end: StreamEnd): AsyncGenerator<Part> {
    const outcome = await runAfterCallOnCollected(this.#passage, this.#collector, end);
    if (outcome.kind === 'refuse' || outcome.kind === 'answer') {
      this.#passage.signal.throwIfAborted();
      return yield* this.#withhold(outcome, end);
    }
    const content = outcome.kind === 'same' ? this.#collector.content() : outcome.content;
    const texts = content.filter((part) => part.type === 'text');
    const text = texts.map((part) => part.text).join('');
    const { released } = this.#window;
    if (!text.startsWith(released))
      return yield* this.#withhold(createContradictionRefusal(outcome.decision), end);
    yield* this.#emit(text.slice(released.length));
    yield* this.closeText(texts.length === 1 ? texts[0] : undefined);
    const rest = content.filter((part) => part.type !== 'text');
    const parts = outcome.kind === 'same' ? this.#collector.parts().filter(isNoText) : streamContent(rest);
    const decisions = this.#decisions(outcome.decision);
    yield* endReleased(this.#passage, outcome, { parts, end, decisions });
  }

  /** Ends the released text, with the model's citations and metadata when it is unchanged. */
  *closeText(text: Partial<TextContent> = {}): Generator<Part> {
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

  /** Stops the model and ends the stream; observers get the after_call event of the part so far. */
  async *#breakOff(stopped: StoppedAnswer): AsyncGenerator<Part> {
    const { upstream, signal } = this.#passage;
    signal.throwIfAborted();
    this.isWithheld = true;
    upstream.abandon(new RuntimeError('DENIED', 'a filter stopped the answer'));
    await runAfterCallOnCollected(this.#passage, this.#collector, interruptedEnd);
    yield* this.#withhold(stopped, interruptedEnd);
  }

  *#withhold(withheld: StoppedAnswer, { usage }: StreamEnd): Generator<Part> {
    yield* this.closeText();
    yield* endWithheld(withheld, this.#decisions(withheld.decision), usage);
  }

  #decisions(after: Decision): Decisions {
    return { before: this.#passage.admitted.decision, after, windows: this.#windows };
  }
}

type TextContent = Extract<LanguageModelV4Content, { type: 'text' }>;

const textPartId = 'signalbox-text';

function isNoText({ type }: Part): boolean {
  return type !== 'text-start' && type !== 'text-delta' && type !== 'text-end';
}
