import { findText } from './find.ts';

/**
 * A text as words are compared: NFKC, so that full-width letters and ligatures are plain ones, without the characters
 * that nobody sees (soft hyphens, zero-width spaces, controls).
 */
export function foldText(text: string): string {
  if (isPlain.test(text)) return text;
  // NFKC makes ignorable characters of some that are not, and composes what stood apart.
  return dropIgnorable(dropIgnorable(text).normalize('NFKC')).normalize('NFKC');
}

/** The same without case: `É` is `é` in either spelling, and `ß` is `SS`. */
export function foldCase(text: string): string {
  return foldText(text).toLowerCase().toUpperCase();
}

const isPlain = /^[\t\n\r -~]*$/;

function dropIgnorable(text: string): string {
  return text.replaceAll(/[\p{DI}[\p{Cc}--[\t\n\v\f\r\x85]]]/gv, '');
}

/** The inside of a character class: the scripts that put no space between words. */
export const unspacedScripts =
  '\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\\p{sc=Tibt}\\p{sc=Yiii}';

/**
 * Where one word ends and the next begins with nothing between them, in UTF-16 units: in scripts that are written without
 * spaces, by the dictionaries of ICU, and where such a script meets another.
 */
export function wordJoints(text: string): ReadonlySet<number> {
  const joints = new Set<number>();
  // Before Thai, every script puts spaces between words.
  if (!/[\u0e00-\uffff]/.test(text)) return joints;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  for (const { index } of segmenter.segment(text)) if (isInsideRun(text, index)) joints.add(index);
  // ICU joins Thai and Latin letters.
  for (const { index } of text.matchAll(scriptChange)) joints.add(index);
  return joints;
}

const [unspaced, spaced] = [
  `[[\\p{L}\\p{M}]&&[${unspacedScripts}]]`,
  `[[\\p{L}\\p{N}_]--[${unspacedScripts}]]`,
];
const scriptChange = new RegExp(`(?<=${unspaced})(?=${spaced})|(?<=${spaced})(?=${unspaced})`, 'gv');

let segmenter: Intl.Segmenter | undefined;

/** Whether letters, marks, digits or `_` stand on both sides. */
function isInsideRun(text: string, at: number): boolean {
  return endsInWord.test(text.slice(Math.max(at - 2, 0), at)) && beginsInWord.test(text.slice(at, at + 2));
}

const endsInWord = /[\p{L}\p{M}\p{N}_]$/u;
const beginsInWord = /^[\p{L}\p{M}\p{N}_]/u;

/** The text with a space at each joint, for definitions that split words at spaces. */
export function spaceWords(text: string): string {
  const joints = [...wordJoints(text)];
  return [0, ...joints].map((from, index) => text.slice(from, joints[index])).join(' ');
}

/**
 * How many words a text has. A combining mark belongs to its letter, so that words of Devanagari and others are whole.
 * Words are counted at their ends: a pattern for a whole word fills the engine's stack on a megabyte without a blank.
 */
export function countWords(text: string): number {
  const seen = dropIgnorable(text);
  const runs = seen.match(/[\p{L}\p{M}\p{N}_](?![\p{L}\p{M}\p{N}_])/gu)?.length ?? 0;
  return runs + wordJoints(seen).size;
}

/** Where a word stands in a text as a word of its own. Both are folded alike by the caller. */
export interface WordFinder {
  /** The first position at or after `from`; -1 without any. */
  find(word: string, from?: number): number;
  /** Whether the word stands at that position. */
  isAt(word: string, at: number): boolean;
}

/** Only an end of the word that is a letter or digit asks for a boundary, so that `C++` is found too. */
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

/** Looks for texts in a content, in any case, and in any spelling that folds to the same. */
export interface FoldedSearch {
  has(wanted: string): boolean;
  /** Whether it stands there as words of its own. */
  hasWord(wanted: string): boolean;
  /** How often, without overlaps. */
  count(wanted: string): number;
}

export function searchFolded(content: string): FoldedSearch {
  const folded = foldCase(content);
  const words = openWords(folded);
  // What folds to nothing, such as a zero-width space, is looked for as it is.
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

/** How often a text that is not empty stands in another, without overlaps. */
export function countText(text: string, wanted: string): number {
  let count = 0;
  for (let at = findText(text, wanted); at >= 0; at = findText(text, wanted, at + wanted.length)) count += 1;
  return count;
}
