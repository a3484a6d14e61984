import { RuntimeError } from '../../base/errors.ts';

/**
 * The text of a stream behind a hold-back window. Filters are called with overlapping pieces; a character is released only when
 * every stretch of `windowChars` UTF-16 units that contains it has been inside a filtered piece.
 */
export class TextWindow {
  /** What stays behind: a stretch that begins before it and is no longer than the window ends within the piece. */
  readonly #tail: number;
  readonly #step: number;
  /** How long the next piece must be at least. */
  #due: number;
  #held = '';
  #asked = '';
  #released = '';
  #settled = 0;
  #isChanged = false;

  constructor(windowChars: number) {
    this.#tail = windowChars - 1;
    this.#step = Math.ceil(windowChars / 2);
    this.#due = this.#tail + this.#step;
  }

  get released(): string {
    return this.#released;
  }

  /** How much of the pushed text is final, in UTF-16 units: `released` is what filters made of it. */
  get settled(): number {
    return this.#settled;
  }

  /** Whether the released text differs from the pushed one. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  push(text: string): void {
    this.#held += text;
  }

  /** The piece to ask filters about now; undefined while there is too little new text. */
  nextPiece(): string | undefined {
    if (this.#held.length < this.#due) return undefined;
    const [end = 0] = cutPositions(this.#held, this.#held.length);
    if (end < this.#due) return undefined;
    const piece = this.#held.slice(0, end);
    this.#asked = piece;
    return piece;
  }

  /** All text that is not released, as the last piece: nothing will follow it. */
  lastPiece(): string {
    this.#asked = this.#held;
    return this.#held;
  }

  release(filtered: string): string {
    const piece = this.#asked;
    const { cut, text } = findReleasablePrefix(piece, filtered, this.#tail);
    this.#settle(cut, text);
    // Where nothing is settled the piece doubles, so that all pieces together stay within a few times the text.
    this.#due = cut > 0 ? piece.length - cut + this.#step : 2 * piece.length;
    return text;
  }

  /** Takes the filtered last piece, all of which may be released. */
  releaseLast(filtered: string): string {
    this.#settle(this.#asked.length, filtered);
    return filtered;
  }

  #settle(cut: number, text: string): void {
    this.#isChanged ||= text !== this.#held.slice(0, cut);
    this.#held = this.#held.slice(cut);
    this.#released += text;
    this.#settled += cut;
  }
}

interface ReleasablePrefix {
  /** How many characters of the piece are final. */
  readonly cut: number;
  readonly text: string;
}

/** The prefix of a filtered piece that is final, whatever text follows. */
function findReleasablePrefix(piece: string, filtered: string, tail: number): ReleasablePrefix {
  const last = piece.length - tail;
  for (const cut of cutPositions(piece, last)) {
    const rest = piece.slice(cut);
    if (filtered.endsWith(rest)) return { cut, text: filtered.slice(0, filtered.length - rest.length) };
  }
  // What was changed began less than a window before the first character that differs.
  const [cut = 0] = cutPositions(piece, Math.min(last, countCommon(piece, filtered) - tail));
  return { cut, text: piece.slice(0, cut) };
}

/**
 * How far back a cut is moved to stand before a word, where a piece begins as where it ends: a filter that
 * looks for whole words then sees whole ones.
 */
const maxWordChars = 64;

function cutPositions(text: string, last: number): number[] {
  const limit = wholeCut(text, last);
  if (limit <= 0) return [];
  for (let cut = limit; cut > Math.max(0, limit - maxWordChars); cut--) {
    if (/\s/.test(text.charAt(cut - 1))) return cut === limit ? [limit] : [cut, limit];
  }
  return [limit];
}

/** The cut, or one before it where it would part a surrogate pair. */
function wholeCut(text: string, cut: number): number {
  const before = text.charCodeAt(cut - 1);
  const after = cut < text.length ? text.charCodeAt(cut) : firstLowSurrogate;
  return isHigh(before) && after >= firstLowSurrogate && after <= 0xdfff ? cut - 1 : cut;
}

/** The lowest low surrogate: behind the end of the text the other half may be to come. */
const firstLowSurrogate = 0xdc00;

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < firstLowSurrogate;
}

function countCommon(one: string, other: string): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count++;
  return count;
}

/** Throws USAGE when a window is not a whole number from 1 on. */
export function requireWindow(windowChars: number | undefined): void {
  if (windowChars === undefined || (Number.isSafeInteger(windowChars) && windowChars > 0)) return;
  throw new RuntimeError('USAGE', `a guard's window is a whole number from 1 on, not ${windowChars}`);
}
