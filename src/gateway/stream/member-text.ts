import { TextWindow } from '../../models/guard/text-window.ts';
import type { Channel } from '../wire/codec.ts';

/** A stretch of the told text, and what filters made of it. */
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
  /** The channels in the order in which the text has grown on them, and where each one ends. */
  readonly #runs: { readonly key: string; end: number }[] = [];
  /** What is told and not yet released. */
  #open = '';
  /** What is released and not yet sent. */
  #segments: Segment[] = [];
  #settled = 0;
  /** How much went out as it was told, and what went out after that. */
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
