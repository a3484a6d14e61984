/**
 * The text of a stream behind a hold-back window. Filters are asked about overlapping pieces; a character goes
 * out only when every stretch of `windowChars` characters (UTF-16 units) that it is part of and that begins at
 * or before it has stood whole in a piece that a filter has let pass or changed.
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

  constructor(windowChars: number) {
    this.#tail = windowChars - 1;
    this.#step = Math.ceil(windowChars / 2);
    this.#due = this.#tail + this.#step;
  }

  /** Everything that `take` has let out. */
  get released(): string {
    return this.#released;
  }

  push(text: string): void {
    this.#held += text;
  }

  /** The piece to ask filters about now; undefined while there is too little new text. */
  ask(): string | undefined {
    if (this.#held.length < this.#due) return undefined;
    const [end = 0] = cutsUpTo(this.#held, this.#held.length);
    if (end < this.#due) return undefined;
    const piece = this.#held.slice(0, end);
    this.#asked = piece;
    return piece;
  }

  /** What may go out now that filters have made this of the piece. */
  take(filtered: string): string {
    const asked = this.#asked;
    const { cut, text } = settle(asked, filtered, this.#tail);
    this.#held = this.#held.slice(cut);
    this.#released += text;
    // Where nothing is settled the piece doubles, so that all pieces together stay within a few times the text.
    this.#due = cut > 0 ? asked.length - cut + this.#step : 2 * asked.length;
    return text;
  }
}

interface Settled {
  /** Characters of the piece that are done with. */
  readonly cut: number;
  /** What they have become. */
  readonly text: string;
}

/** How much of a piece is final, whatever follows. */
function settle(asked: string, filtered: string, tail: number): Settled {
  const last = asked.length - tail;
  for (const cut of cutsUpTo(asked, last)) {
    const rest = asked.slice(cut);
    if (filtered.endsWith(rest)) return { cut, text: filtered.slice(0, filtered.length - rest.length) };
  }
  // What was changed began less than a window before the first character that differs.
  const [cut = 0] = cutsUpTo(asked, Math.min(last, countCommon(asked, filtered) - tail));
  return { cut, text: asked.slice(0, cut) };
}

/**
 * How far back a cut is moved to stand before a word, where a piece begins as where it ends: a filter that
 * looks for whole words then sees whole ones.
 */
const maxWordChars = 64;

/** Places to cut at, best first. */
function cutsUpTo(text: string, last: number): number[] {
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
  const after = cut < text.length ? text.charCodeAt(cut) : lowest;
  return isHigh(before) && after >= lowest && after <= 0xdfff ? cut - 1 : cut;
}

/** The lowest low surrogate: behind the end of the text the other half may be to come. */
const lowest = 0xdc00;

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < lowest;
}

function countCommon(one: string, other: string): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count++;
  return count;
}
