/**
 * How many words a text has. A combining mark belongs to its letter, so that words of Devanagari, Thai and others are whole.
 * Words are counted at their ends: a pattern for a whole word fills the engine's stack on a megabyte without a blank.
 */
export function countWords(text: string): number {
  return text.match(/[\p{L}\p{M}\p{N}_](?![\p{L}\p{M}\p{N}_])/gu)?.length ?? 0;
}

/** Words in capital letters; `WELL-KNOWN` and `DON’T` are one each. */
export function countCapitalWords(text: string): number {
  return text.split(/[^\p{L}\p{M}\p{N}_'’-]/u).filter((word) => /\p{Lu}/u.test(word) && !/\p{Ll}/u.test(word))
    .length;
}

/** How often a text stands in another, without overlaps. */
export function countText(text: string, wanted: string): number {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
}

/** Whether it stands there as words of its own. */
export function hasWord(text: string, wanted: string): boolean {
  const isInWord = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{M}\p{N}_]/u.test(letter);
  const [first, last] = [wanted.at(0), wanted.at(-1)];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const goesOn = isInWord(last) && isInWord(text[at + wanted.length]);
    if (!goesOn && !(isInWord(first) && isInWord(text[at - 1]))) return true;
  }
  return false;
}
