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

export type AskAboutMember = (member: Channel['member'], piece: string) => ReturnType<AskAboutPiece>;

export class AnswerWindows {
  readonly #windowChars: number;
  readonly #askAbout: AskAboutMember;
  readonly #texts = new Map<string, MemberText>();

  constructor(windowChars: number, askAbout: AskAboutMember) {
    this.#windowChars = windowChars;
    this.#askAbout = askAbout;
  }

  /** Whether filters changed text that was already released. */
  get isChanged(): boolean {
    for (const { window } of this.#texts.values()) if (window.isChanged) return true;
    return false;
  }

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

  textOf(channel: Channel): MemberText {
    const id = `${channel.choice} ${channel.member}`;
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = new MemberText(channel, this.#windowChars);
    this.#texts.set(id, text);
    return text;
  }

  messages(): ChatMessage[] {
    const messages = new Map<number, ChatMessage>();
    for (const { choice, member, told } of this.#texts.values()) {
      const message = messages.get(choice) ?? { role: 'assistant', content: '' };
      messages.set(choice, { ...message, [member]: told, finish_reason: 'interrupted' });
    }
    return [...messages.values()];
  }

  sent(): MemberText[] {
    return [...this.#texts.values()].filter(({ isSent }) => isSent);
  }

  /** Releases the choice's other texts when a new one begins, so that the new one does not wait for them. */
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

/** Events pass unchanged until a filter changes text. From then on only filtered text is sent before the end. */
export class FrameQueue {
  readonly #writer: StreamWriter;
  readonly #windows: AnswerWindows | undefined;
  readonly #passesAll: boolean;
  #frames: Frame[] = [];
  #hasText = false;

  /** `passes` says what is sent before the end: text released by windows, nothing or everything. */
  constructor(writer: StreamWriter, passes: AnswerWindows | 'nothing' | 'everything') {
    this.#writer = writer;
    this.#windows = typeof passes === 'string' ? undefined : passes;
    this.#passesAll = passes === 'everything';
  }

  add(event: SseEvent, part: StreamPart): void {
    const kind = part.kind === 'end' || part.kind === 'error' ? 'held' : part.kind;
    this.#frames.push({ event, kind, spans: part.kind === 'text' ? this.#spansOf(part.deltas) : [] });
  }

  /** Returns what may be sent before the response is complete. Opening events wait for the first text. */
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

  takeFree(): string {
    if (this.#windows?.isChanged === true) return '';
    const found = this.#frames.findIndex(({ kind }) => kind !== 'free');
    return this.#takeFirst(found === -1 ? this.#frames.length : found);
  }

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
      // Opening events have no content, but their IDs apply to the whole response.
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

/** UTF-16 units. Buffered events are sent in chunks of about one socket buffer. */
const chunkChars = 16_384;

/** Whether no text of the event waits for a decision, so that later events may be sent. */
function isReleased({ kind, spans }: Frame): boolean {
  return kind !== 'held' && spans.every(({ text, end }) => end <= text.passable);
}

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly isPlain: boolean;
}

/** One text of a message behind a window: all channels of one member of one choice, in sequence. */
export class MemberText {
  readonly choice: number;
  readonly member: Channel['member'];
  readonly window: TextWindow;
  /** Set when no more text is released before the whole response is judged. */
  isClosed = false;
  readonly #told: string[] = [];
  #toldChars = 0;
  readonly #runs: { readonly key: string; end: number }[] = [];
  #open = '';
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

  get sent(): string {
    return this.told.slice(0, this.#passed) + this.#taken;
  }

  get isSent(): boolean {
    return this.#passed > 0 || this.#taken !== '';
  }

  get length(): number {
    return this.#toldChars;
  }

  get passable(): number {
    const [blocked] = this.#segments;
    return this.#isBlocked && blocked !== undefined ? blocked.from : this.#settled;
  }

  add({ key }: Channel, text: string): void {
    this.#told.push(text);
    this.#toldChars += text.length;
    const last = this.#runs.at(-1);
    // A channel that resumes would make the order of the text differ from the order of events.
    if (last?.key !== key) this.isClosed ||= this.#runs.some((run) => run.key === key);
    if (last?.key === key) last.end = this.#toldChars;
    else this.#runs.push({ key, end: this.#toldChars });
    if (this.isClosed) return;
    this.#open += text;
    this.window.push(text);
  }

  settle(released: string): void {
    const length = this.window.settled - this.#settled;
    if (length === 0) return;
    this.#segments.push(...segmentsOf(this.#settled, this.#open.slice(0, length), released));
    this.#open = this.#open.slice(length);
    this.#settled += length;
  }

  /** Returns a channel's filtered text. A change across the channel's end waits for the whole response. */
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
