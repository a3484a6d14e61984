/** How many weights a model has. */
export const BUCKETS = 8192;

/**
 * The features of a sentence, as numbers of weights, each once: its words, their first five letters, pairs of neighbours,
 * and how it begins and ends. FNV-1a makes the numbers, so that no list of words is kept.
 */
export function featuresOf(words: readonly string[], ending: string): readonly number[] {
  const features = new Set<number>();
  const add = (text: string) => features.add(hash(text) % BUCKETS);
  let previous = '^';
  for (const word of words) {
    const known = /^\d+$/.test(word) ? '0' : word.slice(0, 24);
    add(`w ${known}`);
    add(`s ${known.slice(0, 5)}`);
    add(`b ${previous} ${known}`);
    previous = known;
  }
  add(`e ${ending} ${words[0] ?? ''}`);
  add(`f ${words.slice(0, 3).join(' ')}`);
  return [...features];
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

/** What a sentence is looked at as. */
export interface Sentence {
  readonly words: readonly string[];
  /** `?`, `!`, `.`, `:` or nothing. */
  readonly ending: string;
}

/** Longer sentences are cut. */
const LONGEST = 40;

/** The sentences of a plain text: what stands between marks and line breaks, and pairs of neighbours. */
export function* sentencesOf(text: string): Generator<Sentence> {
  let last: Sentence | undefined;
  for (const { 0: written, 1: ending = '' } of text.matchAll(sentence)) {
    const words = written.match(/[\p{L}\p{N}\p{M}@$]+/gu) ?? [];
    for (let at = 0; at < words.length; at += LONGEST) {
      const next = { words: words.slice(at, at + LONGEST), ending: ending.slice(0, 1) };
      yield next;
      if (last !== undefined && last.words.length + next.words.length <= LONGEST) {
        yield { words: [...last.words, ...next.words], ending: next.ending };
      }
      last = next;
    }
  }
}

const sentence = /[^.!?\n\r;|。！？]{1,2000}([.!?;。！？]?)/gu;
