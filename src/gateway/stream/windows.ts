import type { ChatMessage } from '../../contract/provider.ts';
import {
  type AskAboutPiece,
  releasePieces,
  releaseRest,
  type StoppedAnswer,
} from '../../models/guard/guard-outcome.ts';
import { TextWindow } from '../../models/guard/text-window.ts';
import type { Channel, StreamPart, StreamWriter } from '../wire/codec.ts';
import type { SseEvent } from '../wire/sse.ts';

/** Asks the filters about a piece of one member of a choice's message. */
export type AskAboutMember = (member: Channel['member'], piece: string) => ReturnType<AskAboutPiece>;

/** The texts of an answer, each behind a window of its own. */
export class AnswerWindows {
  readonly #windowChars: number;
  readonly #askAbout: AskAboutMember;
  readonly #texts = new Map<string, MemberText>();

  constructor(windowChars: number, askAbout: AskAboutMember) {
    this.#windowChars = windowChars;
    this.#askAbout = askAbout;
  }

  /** Whether filters have changed a text of which something is released. */
  get isChanged(): boolean {
    for (const { window } of this.#texts.values()) if (window.isChanged) return true;
    return false;
  }

  /** Adds text, and asks about what is due; returns what stopped it. */
  async add(deltas: Extract<StreamPart, { kind: 'text' }>['deltas']): Promise<StoppedAnswer | undefined> {
    for (const { channel, text } of deltas) {
      const stopped = await this.#addOne(channel, text);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  async #addOne(channel: Channel, text: string): Promise<StoppedAnswer | undefined> {
    if (text === '') return undefined;
    const grown = this.textOf(channel);
    grown.add(channel, text);
    if (grown.isClosed) return undefined;
    return (await this.#endOthers(grown)) ?? (await this.#ask(grown, releasePieces));
  }

  /** The text that a channel belongs to. */
  textOf(channel: Channel): MemberText {
    const id = `${channel.choice} ${channel.member}`;
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = new MemberText(channel, this.#windowChars);
    this.#texts.set(id, text);
    return text;
  }

  /** The messages as far as they were told. */
  messages(): ChatMessage[] {
    const messages = new Map<number, ChatMessage>();
    for (const { choice, member, told } of this.#texts.values()) {
      const message = messages.get(choice) ?? { role: 'assistant', content: '' };
      messages.set(choice, { ...message, [member]: told, finish_reason: 'interrupted' });
    }
    return [...messages.values()];
  }

  /** The texts of which the client has something. */
  sent(): MemberText[] {
    return [...this.#texts.values()].filter(({ isSent }) => isSent);
  }

  /** The other texts of the choice end where another one begins, so that this one need not wait for their last piece. */
  async #endOthers(grown: MemberText): Promise<StoppedAnswer | undefined> {
    for (const other of this.#texts.values()) {
      if (other === grown || other.choice !== grown.choice || other.isClosed) continue;
      other.isClosed = true;
      const stopped = await this.#ask(other, releaseRest);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  async #ask(text: MemberText, release: typeof releasePieces): Promise<StoppedAnswer | undefined> {
    const released = await release(text.window, (piece) => this.#askAbout(text.member, piece));
    text.settle(released.text);
    return released.stopped;
  }
}

interface Frame {
  readonly event: SseEvent;
  readonly kind: 'free' | 'echo' | 'text' | 'held';
  readonly spans: readonly Span[];
}

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

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** It is the told text. */
  readonly isPlain: boolean;
}

/** A text of a message behind its window: all channels of one member of one choice, one after another. */
export class MemberText {
  readonly choice: number;
  readonly member: Channel['member'];
  readonly window: TextWindow;
  /** Nothing more of it is released before the whole answer is judged. */
  isClosed = false;
  readonly #told: string[] = [];
  #toldChars = 0;
  readonly #runs: { readonly key: string; end: number }[] = [];
  /** What is told and not yet released. */
  #open = '';
  /** What is released and not yet sent. */
  #segments: Segment[] = [];
  #settled = 0;
  #passed = 0;
  #taken = '';
  #isBlocked = false;

  constructor({ choice, member }: Channel, windowChars: number) {
    this.choice = choice;
    this.member = member;
    this.window = new TextWindow(windowChars);
  }

  get told(): string {
    return this.#told.join('');
  }

  /** What the client has. */
  get sent(): string {
    return this.told.slice(0, this.#passed) + this.#taken;
  }

  get isSent(): boolean {
    return this.#passed > 0 || this.#taken !== '';
  }

  /** How many characters were told. */
  get length(): number {
    return this.#toldChars;
  }

  /** How much of the told text may go out. */
  get passable(): number {
    const [blocked] = this.#segments;
    return this.#isBlocked && blocked !== undefined ? blocked.from : this.#settled;
  }

  add({ key }: Channel, text: string): void {
    this.#told.push(text);
    this.#toldChars += text.length;
    const last = this.#runs.at(-1);
    // What goes on where it had stopped is put together otherwise than it was told.
    if (last?.key !== key) this.isClosed ||= this.#runs.some((run) => run.key === key);
    if (last?.key === key) last.end = this.#toldChars;
    else this.#runs.push({ key, end: this.#toldChars });
    if (this.isClosed) return;
    this.#open += text;
    this.window.push(text);
  }

  /** Notes what the window has released. */
  settle(released: string): void {
    const length = this.window.settled - this.#settled;
    if (length === 0) return;
    this.#segments.push(...segmentsOf(this.#settled, this.#open.slice(0, length), released));
    this.#open = this.#open.slice(length);
    this.#settled += length;
  }

  /** What of a channel may go out as the filters left it. A change over the end of a channel waits for the whole answer. */
  take({ key }: Channel): string {
    const end = this.#runs.find((run) => run.key === key)?.end ?? 0;
    let out = '';
    while (!this.#isBlocked) {
      const [next] = this.#segments;
      if (next === undefined || (next.from >= end && next.to > end)) break;
      if (next.to <= end) out += next.text;
      else if (next.isPlain) out += next.text.slice(0, end - next.from);
      this.#isBlocked = next.to > end && !next.isPlain;
      if (!this.#isBlocked) this.#skip(end, next);
    }
    this.isClosed ||= this.#isBlocked;
    this.#taken += out;
    return out;
  }

  /** Notes that what was told up to there goes out as it was told. */
  pass(end: number): void {
    this.#passed = end;
    for (let [next] = this.#segments; next !== undefined && next.from < end; [next] = this.#segments) {
      this.#skip(end, next);
    }
  }

  #skip(end: number, { from, to, text, isPlain }: Segment): void {
    const rest = { from: end, to, text: text.slice(end - from), isPlain };
    this.#segments = [...(to > end ? [rest] : []), ...this.#segments.slice(1)];
  }
}

/** What is the same at both ends, and what was changed between. */
function segmentsOf(from: number, told: string, text: string): Segment[] {
  const to = from + told.length;
  if (told === text) return [{ from, to, text, isPlain: true }];
  const shorter = Math.min(told.length, text.length);
  let head = 0;
  while (head < shorter && told[head] === text[head]) head++;
  let tail = 0;
  while (tail < shorter - head && told.at(-1 - tail) === text.at(-1 - tail)) tail++;
  const segments = [
    { from, to: from + head, text: text.slice(0, head), isPlain: true },
    { from: from + head, to: to - tail, text: text.slice(head, text.length - tail), isPlain: false },
    { from: to - tail, to, text: text.slice(text.length - tail), isPlain: true },
  ];
  return segments.filter((segment) => segment.to > segment.from || segment.text !== '');
}
