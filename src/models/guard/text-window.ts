import { RuntimeError } from '../../base/errors.ts';

/**
 * The text of a stream behind a hold-back window. Filters are called with overlapping pieces. A character is released
 * only when every stretch of `windowChars` UTF-16 units that contains it has been inside a filtered piece.
 */
export class TextWindow {
  /** The minimum length of the unreleased text: the window less one unit. */
  readonly #tail: number;
  readonly #step: number;
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

  /** The length of the final text before filtering, in UTF-16 units. `released` is the filtered text. */
  get settled(): number {
    return this.#settled;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  push(text: string): void {
    this.#held += text;
  }

  nextPiece(): string | undefined {
    if (this.#held.length < this.#due) return undefined;
    const [end = 0] = cutPositions(this.#held, this.#held.length);
    if (end < this.#due) return undefined;
    const piece = this.#held.slice(0, end);
    this.#asked = piece;
    return piece;
  }

  lastPiece(): string {
    this.#asked = this.#held;
    return this.#held;
  }

  release(filtered: string): string {
    const piece = this.#asked;
    const { cut, text } = findReleasablePrefix(piece, filtered, this.#tail);
    this.#settle(cut, text);
    // The piece doubles if nothing is settled, so the pieces together stay within a few times the text.
    this.#due = cut > 0 ? piece.length - cut + this.#step : 2 * piece.length;
    return text;
  }

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
  readonly cut: number;
  readonly text: string;
}

function findReleasablePrefix(piece: string, filtered: string, tail: number): ReleasablePrefix {
  const last = piece.length - tail;
  for (const cut of cutPositions(piece, last)) {
    const rest = piece.slice(cut);
    if (filtered.endsWith(rest)) return { cut, text: filtered.slice(0, filtered.length - rest.length) };
  }
  // A change began less than a window before the first different character.
  const [cut = 0] = cutPositions(piece, Math.min(last, countCommon(piece, filtered) - tail));
  return { cut, text: piece.slice(0, cut) };
}

/** The farthest that a cut moves back to a word boundary. Filters that search for whole words then see whole ones. */
const maxWordChars = 64;

function cutPositions(text: string, last: number): number[] {
  const limit = wholeCut(text, last);
  if (limit <= 0) return [];
  for (let cut = limit; cut > Math.max(0, limit - maxWordChars); cut--) {
    if (/\s/.test(text.charAt(cut - 1))) return cut === limit ? [limit] : [cut, limit];
  }
  return [limit];
}

function wholeCut(text: string, cut: number): number {
  const before = text.charCodeAt(cut - 1);
  const after = cut < text.length ? text.charCodeAt(cut) : firstLowSurrogate;
  return isHigh(before) && after >= firstLowSurrogate && after <= 0xdfff ? cut - 1 : cut;
}

/** The lowest low surrogate. At the end of the text, the other half may still arrive. */
const firstLowSurrogate = 0xdc00;

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < firstLowSurrogate;
}

function countCommon(one: string, other: string): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count++;
  return count;
}

/** Throws USAGE unless the window is a positive whole number. */
export function requireWindow(windowChars: number | undefined): void {
  if (windowChars === undefined || (Number.isSafeInteger(windowChars) && windowChars > 0)) return;
  throw new RuntimeError('USAGE', `a guard's window is a whole number from 1 on, not ${windowChars}`);
}
