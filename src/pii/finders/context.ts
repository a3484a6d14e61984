import { textBefore } from '../scanned-text.ts';

/**
 * A pattern for words that tell what follows, separated by `|`. A word in letters that are written with spaces must stand by
 * itself; one in Chinese or Japanese may follow another, and `_` and `-` of names in programs count as spaces.
 */
export function tellingWords(words: string, rest = ''): RegExp {
  return new RegExp(`(?:${alternatives(words).map(wholeWord).join('|')})${rest}`, 'iu');
}

/** The parts between the bars that stand in no bracket. */
function alternatives(words: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const sign of words) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (sign === '|' && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts;
}

function wholeWord(word: string): string {
  const begins = /^\\?[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0900-\u097f\d]/u.test(word)
    ? String.raw`(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0900-\u097f])`
    : '';
  const ends = /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0900-\u097f]\)?\??$/u.test(word)
    ? String.raw`(?![A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0900-\u097f])`
    : '';
  return `${begins}${word.replaceAll(' ', '[ _-]?')}${ends}`;
}

/** Whether such a word stands in the same line, at most `length` characters before the position. */
export function isTold(text: string, at: number, words: RegExp, length = 50): boolean {
  const before = textBefore(text, at, length);
  return words.test(before.slice(before.lastIndexOf('\n', before.length - 2) + 1));
}
