import { findText } from './find.ts';

/**
 * NFKC without invisible characters (soft hyphens, zero-width spaces, controls), for comparing words. Full-width
 * letters and ligatures become plain ones.
 */
export function foldText(text: string): string {
  if (isPlain.test(text)) return text;
  // NFKC turns some characters into ignorable ones, and composes separate ones.
  return dropIgnorable(dropIgnorable(text).normalize('NFKC')).normalize('NFKC');
}

/** Like `foldText`, without case: `É` equals `é` in either spelling, `ß` equals `SS`. */
export function foldCase(text: string): string {
  return foldText(text).toLowerCase().toUpperCase();
}

const isPlain = /^[\t\n\r -~]*$/;

function dropIgnorable(text: string): string {
  return text.replaceAll(/[\p{DI}[\p{Cc}--[\t\n\v\f\r\x85]]]/gv, '');
}

/** Scripts without spaces between words, as the inside of a character class. */
export const unspacedScripts =
  '\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\\p{sc=Tibt}\\p{sc=Yiii}';

/**
 * The boundaries between adjacent words without a space, in UTF-16 units. They come from ICU's dictionaries for
 * unspaced scripts, and from changes between such a script and another.
 */
export function wordJoints(text: string): ReadonlySet<number> {
  const joints = new Set<number>();
  // All scripts before Thai put spaces between words.
  if (!/[\u0e00-\uffff]/.test(text)) return joints;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  for (const { index } of segmenter.segment(text)) if (isInsideRun(text, index)) joints.add(index);
  // ICU does not separate Thai from Latin letters.
  for (const { index } of text.matchAll(scriptChange)) joints.add(index);
  return joints;
}

const [unspaced, spaced] = [
  `[[\\p{L}\\p{M}]&&[${unspacedScripts}]]`,
  `[[\\p{L}\\p{N}_]--[${unspacedScripts}]]`,
];
const scriptChange = new RegExp(`(?<=${unspaced})(?=${spaced})|(?<=${spaced})(?=${unspaced})`, 'gv');

let segmenter: Intl.Segmenter | undefined;

function isInsideRun(text: string, at: number): boolean {
  return endsInWord.test(text.slice(Math.max(at - 2, 0), at)) && beginsInWord.test(text.slice(at, at + 2));
}

const endsInWord = /[\p{L}\p{M}\p{N}_]$/u;
const beginsInWord = /^[\p{L}\p{M}\p{N}_]/u;

export function spaceWords(text: string): string {
  const joints = [...wordJoints(text)];
  return [0, ...joints].map((from, index) => text.slice(from, joints[index])).join(' ');
}

/**
 * A combining mark belongs to its letter, so that words in Devanagari and similar scripts stay whole. It counts word
 * ends: a whole-word pattern overflows the engine's stack on a megabyte without spaces.
 */
export function countWords(text: string): number {
  const seen = dropIgnorable(text);
  const runs = seen.match(/[\p{L}\p{M}\p{N}_](?![\p{L}\p{M}\p{N}_])/gu)?.length ?? 0;
  return runs + wordJoints(seen).size;
}

/** Finds whole words. The caller must fold both texts alike. */
export interface WordFinder {
  /** The first position at or after `from`, or -1. */
  find(word: string, from?: number): number;
  isAt(word: string, at: number): boolean;
}

/** Requires a boundary only next to a letter or digit of the word, so that it finds `C++` too. */
export function openWords(text: string): WordFinder {
  let joints: ReadonlySet<number> | undefined;
  const isBoundary = (at: number) => {
    if (!isInsideRun(text, at)) return true;
    joints ??= wordJoints(text);
    return joints.has(at);
  };
  const isWhole = (word: string, at: number) =>
    (!beginsInWord.test(word) || isBoundary(at)) && (!endsInWord.test(word) || isBoundary(at + word.length));
  return {
    find: (word, from = 0) => {
      if (word === '') return -1;
      let at = findText(text, word, from);
      while (at !== -1 && !isWhole(word, at)) at = findText(text, word, at + 1);
      return at;
    },
    isAt: (word, at) => text.startsWith(word, at) && isWhole(word, at),
  };
}

export interface FoldedSearch {
  has(wanted: string): boolean;
  hasWord(wanted: string): boolean;
  count(wanted: string): number;
}

export function searchFolded(content: string): FoldedSearch {
  const folded = foldCase(content);
  const words = openWords(folded);
  // A text that folds to nothing, such as a zero-width space, is searched as it is.
  const has = (wanted: string) => {
    const text = foldCase(wanted);
    return text === '' ? content.includes(wanted) : findText(folded, text) !== -1;
  };
  return {
    has,
    hasWord: (wanted) => {
      const word = foldCase(wanted);
      return word === '' ? has(wanted) : words.find(word) !== -1;
    },
    count: (wanted) => {
      const text = foldCase(wanted);
      return text === '' ? countText(content, wanted) : countText(folded, text);
    },
  };
}

/** Without overlaps; `wanted` must not be empty. */
export function countText(text: string, wanted: string): number {
  let count = 0;
  for (let at = findText(text, wanted); at >= 0; at = findText(text, wanted, at + wanted.length)) count += 1;
  return count;
}
