import type { SeparatedText } from './fold.ts';

/** A text for the finders, with data that several of them need, computed on first use. */
export interface ScannedText {
  /** The folded text: plain digits, spaces and hyphens, nothing invisible. */
  readonly text: string;
  /** The same without accents on Latin letters, position by position: where words are looked for. */
  readonly plain: string;
  /** The spaces in it that the original does not have, between two scripts. */
  readonly joints: ReadonlySet<number>;
  /** Every unbroken run of digits. */
  readonly digits: DigitGroups;
  /** Where a word or a number begins that has a digit within its first characters, as numbers of identity papers do. */
  readonly codeStarts: readonly number[];
  /** The cells below the heads of tables, in the order of the text. */
  readonly cells: readonly Cell[];
}

/** Runs of digits: the one at `index` stands from `starts[index]` up to, not including, `ends[index]`. */
export interface DigitGroups {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** A value in a table (CSV, tabs, Markdown), without the spaces and quotes around it. */
interface Cell {
  readonly start: number;
  readonly end: number;
  /** What stands at the head of its column, without accents. */
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

/** Takes the accents from Latin letters; the text keeps its length. */
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

/** A table is a line of short heads without digits, and lines below it with as many separators of the same kind. */
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

/** The head of the column in which a position stands. */
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

/** The end of the text before `at`, at most `length` characters: where a finder looks for a telling word. */
export function textBefore(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - length), at);
}
