import type { SeparatedText } from './fold.ts';

/** A text for the finders, with data that several of them need, computed on first use. */
export interface ScannedText {
  /** The folded text: plain digits, spaces and hyphens, nothing invisible. */
  readonly text: string;
  /** The spaces in it that the original does not have, between two scripts. */
  readonly joints: ReadonlySet<number>;
  /** Every unbroken run of digits. */
  readonly digits: DigitGroups;
  /** Where a word or a number begins that has a digit within its first characters, as numbers of identity papers do. */
  readonly codeStarts: readonly number[];
}

/** Runs of digits: the one at `index` stands from `starts[index]` up to, not including, `ends[index]`. */
export interface DigitGroups {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

export function createScannedText({ text, joints }: SeparatedText): ScannedText {
  let digits: DigitGroups | undefined;
  let codeStarts: readonly number[] | undefined;
  return {
    text,
    joints: new Set(joints),
    get digits() {
      digits ??= groupDigits(text);
      return digits;
    },
    get codeStarts() {
      codeStarts ??= Array.from(text.matchAll(codeStart), ({ index }) => index);
      return codeStarts;
    },
  };
}

const codeStart = /(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])(?<!\d[.,/-])(?=[A-Za-z]{0,6}[ -]?\d)/gu;

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

/** The end of the text before `at`, at most `length` characters: where a finder looks for a telling word. */
export function textBefore(text: string, at: number, length: number): string {
  return text.slice(Math.max(0, at - length), at);
}
