import type { Channel, StreamPart, StreamWriter } from '../wire/codec.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { AnswerWindows } from './answer-windows.ts';
import type { MemberText } from './member-text.ts';

interface Frame {
  readonly event: SseEvent;
  readonly kind: 'free' | 'echo' | 'text' | 'held';
  readonly spans: readonly Span[];
}

/** Where a frame's text ends among those of a member. */
interface Span {
  readonly channel: Channel;
  readonly text: MemberText;
  readonly end: number;
  readonly length: number;
}

/**
 * The events of an answer in the order in which they came. They leave in this order, as they came, until a filter has
 * changed something; from then on the texts alone go out before the end, as the filters left them.
 */
export class FrameQueue {
  readonly #writer: StreamWriter;
  readonly #windows: AnswerWindows | undefined;
  readonly #passesAll: boolean;
  #frames: Frame[] = [];
  #hasText = false;

  /** What leaves before the end: what windows have let pass, nothing, or everything. */
  constructor(writer: StreamWriter, passes: AnswerWindows | 'nothing' | 'everything') {
    this.#writer = writer;
    this.#windows = typeof passes === 'string' ? undefined : passes;
    this.#passesAll = passes === 'everything';
  }

  /** Adds an event before its text is added to the windows. */
  add(event: SseEvent, part: StreamPart): void {
    const kind = part.kind === 'end' || part.kind === 'error' ? 'held' : part.kind;
    this.#frames.push({ event, kind, spans: part.kind === 'text' ? this.#spansOf(part.deltas) : [] });
  }

  /** What may go out before the answer is complete; a beginning goes with the first text behind it. */
  take(): string {
    if (this.#passesAll) return this.#takeFirst(this.#frames.length);
    if (this.#windows === undefined) return '';
    if (this.#windows.isChanged) return this.#takeTexts();
    const found = this.#frames.findIndex((frame) => !isReleased(frame));
    const count = found === -1 ? this.#frames.length : found;
    this.#hasText ||= this.#frames
      .slice(0, count)
      .some(({ spans }) => spans.some(({ length }) => length > 0));
    return this.#hasText ? this.#takeFirst(count) : '';
  }

  /** The events at the front that tell nothing of the answer. */
  takeFree(): string {
    if (this.#windows?.isChanged === true) return '';
    const found = this.#frames.findIndex(({ kind }) => kind !== 'free');
    return this.#takeFirst(found === -1 ? this.#frames.length : found);
  }

  /** All that is left, as it came. */
  *takeAll(): Generator<string> {
    const frames = this.#frames;
    this.#frames = [];
    let chunk = '';
    for (const { event } of frames) {
      chunk += this.#writer.verbatim(event);
      if (chunk.length < chunkChars) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }

  #spansOf(deltas: Extract<StreamPart, { kind: 'text' }>['deltas']): Span[] {
    const windows = this.#windows;
    if (windows === undefined) return [];
    const ends = new Map<MemberText, number>();
    return deltas.map(({ channel, text: { length } }) => {
      const text = windows.textOf(channel);
      const end = (ends.get(text) ?? text.length) + length;
      ends.set(text, end);
      return { channel, text, end, length };
    });
  }

  #takeFirst(count: number): string {
    if (count === 0) return '';
    const first = this.#frames.slice(0, count);
    this.#frames = this.#frames.slice(count);
    return first.map((frame) => this.#verbatim(frame)).join('');
  }

  /** The texts at the front as the filters left them, without the events that told them. */
  #takeTexts(): string {
    let out = '';
    let taken = 0;
    for (const frame of this.#frames) {
      if (frame.kind === 'held') break;
      // The beginning tells nothing of the answer, and its ids are those of the whole of it.
      out += frame.kind === 'free' && !this.#hasText ? this.#verbatim(frame) : this.#textsOf(frame);
      this.#hasText ||= frame.spans.some(({ length }) => length > 0);
      if (!isReleased(frame)) break;
      taken++;
    }
    if (taken > 0) this.#frames = this.#frames.slice(taken);
    return out;
  }

  #verbatim({ event, spans }: Frame): string {
    for (const { text, end } of spans) text.pass(end);
    return this.#writer.verbatim(event);
  }

  #textsOf({ spans }: Frame): string {
    return spans
      .map(({ channel, text }) => {
        const released = text.take(channel);
        return released === '' ? '' : this.#writer.text(channel, released);
      })
      .join('');
  }
}

/** Events that wait are sent together, about as much as a socket takes at once. */
const chunkChars = 16_384;

/** Whether what comes behind it may go out: nothing of it waits for a decision. */
function isReleased({ kind, spans }: Frame): boolean {
  return kind !== 'held' && spans.every(({ text, end }) => end <= text.passable);
}
