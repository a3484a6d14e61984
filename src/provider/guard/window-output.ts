import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { RuntimeError } from '../../errors.ts';
import { answerEvent } from './call.ts';
import { StreamCollector } from './collect.ts';
import { type End, streamContent } from './output.ts';
import {
  endFailed,
  endReleased,
  endWithheld,
  judgeCollected,
  type Passage,
  type Withheld,
} from './passage.ts';
import type { Decisions } from './report.ts';
import { interrupted } from './upstream.ts';
import { type AfterCall, askHooks, type Refusal, type Ruling, refuse } from './verdict.ts';
import { TextWindow } from './window.ts';

type Part = LanguageModelV4StreamPart;

/**
 * Lets an answer's text out behind a window that the filters of after_call have seen; everything else waits
 * for their word on the whole answer. The text is one part, whatever parts the model made of it.
 */
export async function* windowAnswer(passage: Passage, windowChars: number): AsyncGenerator<Part> {
  const { upstream } = passage;
  const answer = new WindowedAnswer(passage, windowChars);
  for (;;) {
    const arrival = await upstream.next();
    if (arrival.kind === 'free') yield arrival.part;
    else if (arrival.kind === 'failed') {
      yield* answer.closeText();
      return yield* endFailed(passage, arrival.error);
    } else if (arrival.kind === 'finished') {
      yield* answer.finish(arrival.end);
      return await upstream.drain();
    } else {
      yield* answer.take(arrival.part);
      if (answer.isWithheld) return;
    }
  }
}

/** What is known, and what has gone out, of an answer. */
class WindowedAnswer {
  isWithheld = false;
  readonly #passage: Passage;
  readonly #window: TextWindow;
  readonly #collector = new StreamCollector();
  #windows = 0;
  #isTextOpen = false;

  constructor(passage: Passage, windowChars: number) {
    this.#passage = passage;
    this.#window = new TextWindow(windowChars);
  }

  async *take(part: Part): AsyncGenerator<Part> {
    this.#collector.add(part);
    if (part.type !== 'text-delta') return;
    this.#window.push(part.delta);
    for (let piece = this.#window.ask(); piece !== undefined; piece = this.#window.ask()) {
      const ruling = await this.#judgePiece(piece);
      if (ruling.kind !== 'pass') return yield* this.#breakOff(ruling);
      yield* this.#emit(this.#window.take(ruling.event.response.message.content));
    }
  }

  async *finish(end: End): AsyncGenerator<Part> {
    const judgement = await judgeCollected(this.#passage, this.#collector, end);
    if (judgement.kind === 'refuse' || judgement.kind === 'answer') {
      this.#passage.signal.throwIfAborted();
      return yield* this.#withhold(judgement, end);
    }
    const content = judgement.kind === 'same' ? this.#collector.content() : judgement.content;
    const texts = content.filter((part) => part.type === 'text');
    const text = texts.map((part) => part.text).join('');
    const { released } = this.#window;
    if (!text.startsWith(released)) return yield* this.#withhold(contradiction(judgement.decision), end);
    yield* this.#emit(text.slice(released.length));
    yield* this.closeText(texts.length === 1 ? texts[0] : undefined);
    const rest = content.filter((part) => part.type !== 'text');
    const parts = judgement.kind === 'same' ? this.#collector.parts().filter(isNoText) : streamContent(rest);
    const decisions = this.#decisions(judgement.decision);
    yield* endReleased(this.#passage, judgement, { parts, end, decisions });
  }

  /** Ends the text that has gone out, with what the model says of it when it is still the model's. */
  *closeText(text: Partial<TextContent> = {}): Generator<Part> {
    if (!this.#isTextOpen) return;
    this.#isTextOpen = false;
    const { citations, providerMetadata: metadata } = text;
    yield {
      type: 'text-end',
      id,
      ...(citations && { citations }),
      ...(metadata && { providerMetadata: metadata }),
    };
  }

  *#emit(text: string): Generator<Part> {
    if (text === '') return;
    if (!this.#isTextOpen) yield { type: 'text-start', id };
    this.#isTextOpen = true;
    yield { type: 'text-delta', id, delta: text };
  }

  #judgePiece(piece: string): Promise<Ruling<AfterCall>> {
    const { fire, admitted, signal, latencyMs } = this.#passage;
    this.#windows += 1;
    const metadata = { ...admitted.request.metadata, signalbox_window: this.#windows };
    const message: ChatMessage = { role: 'assistant', content: piece };
    const request = { ...admitted.request, metadata };
    const event = answerEvent({ request, message, latencyMs: latencyMs() });
    return askHooks(fire, event, { signal, filtersOnly: true });
  }

  /** Stops the model; observers, who hear of every answer once, are told of this one as far as it came. */
  async *#breakOff(ruling: Withheld): AsyncGenerator<Part> {
    const { upstream, signal } = this.#passage;
    signal.throwIfAborted();
    this.isWithheld = true;
    upstream.leave(new RuntimeError('DENIED', 'a filter stopped the answer'));
    await judgeCollected(this.#passage, this.#collector, interrupted);
    yield* this.#withhold(ruling, interrupted);
  }

  *#withhold(withheld: Withheld, { usage }: End): Generator<Part> {
    yield* this.closeText();
    yield* endWithheld(withheld, this.#decisions(withheld.decision), usage);
  }

  #decisions(after: Decision): Decisions {
    return { before: this.#passage.admitted.decision, after, windows: this.#windows };
  }
}

type TextContent = Extract<LanguageModelV4Content, { type: 'text' }>;

const id = 'signalbox-text';

function isNoText({ type }: Part): boolean {
  return type !== 'text-start' && type !== 'text-delta' && type !== 'text-end';
}

function contradiction(decision: Decision): Refusal {
  const reason = 'what the hooks made of the whole answer does not begin with what had already gone out';
  return refuse('after_call', { ...decision, verdict: 'deny', reason, replace: null });
}
