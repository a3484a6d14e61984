import { countNewlines, type LeftOut } from './kept-end.ts';

/** The end of text that was left out, and how much there was before. */
export interface Omission {
  /** The last whole lines, without their newlines. */
  readonly lines: readonly Buffer[];
  /** How much was left out before these lines. */
  readonly count: LeftOut;
  /** The bytes after the last newline. */
  readonly rest: Buffer;
}

/** Text that is counted rather than read, of which only the end is kept. */
export class OmittedText {
  readonly #keepBytes: number;
  /** The first line is the end of one that began before. */
  #isTorn: boolean;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lines = 0;
  #bytes = 0;

  constructor(keepBytes: number, isTorn: boolean) {
    this.#keepBytes = keepBytes;
    this.#isTorn = isTorn;
  }

  push(chunk: Buffer): void {
    this.#lines += countNewlines(chunk);
    this.#bytes += chunk.length;
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes >= 4 * this.#keepBytes) this.#cut();
  }

  /** Counts text that nobody kept. */
  skip({ lines, bytes }: LeftOut): void {
    this.#lines += lines;
    this.#bytes += bytes;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#isTorn = true;
  }

  /** The last `maxLines` lines and the counts; with `isEnd`, bytes after the last newline count as a line. */
  close(maxLines: number, isEnd: boolean): Omission {
    this.#cut();
    const [kept = emptyBuffer] = this.#kept;
    const begin = this.#isTorn ? kept.indexOf(NEWLINE) + 1 || kept.length : 0;
    const lines: Buffer[] = [];
    let start = begin;
    for (let end = kept.indexOf(NEWLINE, start); end !== -1; end = kept.indexOf(NEWLINE, start)) {
      lines.push(kept.subarray(start, end));
      start = end + 1;
    }
    const rest = kept.subarray(start);
    const hasLast = isEnd && rest.length > 0;
    const shown = (hasLast ? [...lines, rest] : lines).slice(-maxLines);
    // All but the very last had a newline.
    const shownBytes = shown.reduce((sum, line) => sum + line.length + 1, hasLast ? -1 : 0);
    return {
      lines: shown,
      count: {
        lines: this.#lines - shown.length + (hasLast ? 1 : 0),
        bytes: this.#bytes - shownBytes - (isEnd ? 0 : rest.length),
      },
      rest: isEnd ? emptyBuffer : rest,
    };
  }

  #cut(): void {
    const all = Buffer.concat(this.#kept);
    const kept = all.subarray(-this.#keepBytes);
    if (kept.length < all.length) this.#isTorn = true;
    // A copy, so that what is cut away is let go.
    this.#kept = [Buffer.from(kept)];
    this.#keptBytes = kept.length;
  }
}

const NEWLINE = 0x0a;
const emptyBuffer = Buffer.alloc(0);
