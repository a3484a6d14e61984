import type { SeparatedText } from './fold.ts';

/** A text with data that several finders share, computed on first use. */
export interface ScannedText {
  /** The folded text: plain digits, spaces and hyphens, nothing invisible. */
  readonly text: string;
  /** `text` without accents on Latin letters, at the same positions. */
  readonly plain: string;
  /** The positions of spaces that `separateScripts` added. */
  readonly joints: ReadonlySet<number>;
  readonly digits: DigitGroups;
  /** The starts of words or numbers with a digit among their first characters, as in identity numbers. */
  readonly codeStarts: readonly number[];
  readonly cells: readonly Cell[];
}

/** The run at `index` is from `starts[index]` up to, not including, `ends[index]`. */
export interface DigitGroups {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

interface Cell {
  readonly start: number;
  readonly end: number;
  readonly head: string;
}

export function createScannedText({ text, joints }: SeparatedText): ScannedText {
  const plain = unaccent(text);
  let digits: DigitGroups | undefined;
  let codeStarts: readonly number[] | undefined;
  let cells: readonly Cell[] | undefined;
  return {
    text,
    plain,
    joints: new Set(joints),
    get digits() {
      digits ??= groupDigits(text);
      return digits;
    },
    get codeStarts() {
      codeStarts ??= Array.from(text.matchAll(codeStart), ({ index }) => index);
      return codeStarts;
    },
    get cells() {
      cells ??= [...readTables(plain)];
      return cells;
    },
  };
}

const codeStart = /(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])(?<!\d[.,/-])(?=[A-Za-z]{0,6}[ -]?\d)/gu;

export function unaccent(text: string): string {
  return text.replaceAll(/[\u00c0-\u024f\u1e00-\u1eff]/g, (letter) => letter.normalize('NFD').charAt(0));
}

function groupDigits(text: string): DigitGroups {
  const starts: number[] = [];
  const ends: number[] = [];
  let isInside = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    if (isDigit === isInside) continue;
    (isDigit ? starts : ends).push(at);
    isInside = isDigit;
  }
  if (isInside) ends.push(text.length);
  return { starts, ends };
}

/** A table is a line of short heads without digits, followed by lines with as many separators of the same kind. */
function* readTables(text: string): Generator<Cell> {
  let heads: readonly string[] = [];
  let separator = '';
  for (let start = 0; start < text.length; ) {
    const lineEnd = text.indexOf('\n', start);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const line = text.slice(start, end);
    const values = separator === '' ? [] : line.split(separator);
    if (heads.length > 1 && values.length === heads.length) {
      let at = start;
      for (const [column, value] of values.entries()) {
        const lead = /^[\s"']*/.exec(value)?.[0].length ?? 0;
        const inner = value.slice(lead).replace(/[\s"']{1,20}$/, '');
        yield { start: at + lead, end: at + lead + inner.length, head: heads[column] ?? '' };
        at += value.length + separator.length;
      }
    } else {
      separator = line.length > maxHead || /\d/.test(line) ? '' : (/[\t|;,]/.exec(line)?.[0] ?? '');
      heads = separator === '' ? [] : line.split(separator).map((head) => head.trim());
    }
    start = end + 1;
  }
}

const maxHead = 300;

export function columnHead({ cells }: ScannedText, at: number): string | undefined {
  let [low, high] = [0, cells.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cells[middle]?.start ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  const cell = cells[low - 1];
  return cell !== undefined && at < cell.end ? cell.head : undefined;
}

export function textBefore(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - length), at);
}
