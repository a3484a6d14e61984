/** A linear model of sentences with one weight per feature, in quarters of a thousandth of `scale`. */
interface LinearModel {
  readonly bias: number;
  readonly scale: number;
  readonly weights: Int8Array;
}

function marginOf({ bias, scale, weights }: LinearModel, { words, ending }: Sentence): number {
  const features = featuresOf(words, ending);
  const sum = features.reduce((total, feature) => total + (weights[feature] ?? 0), 0);
  return bias + (sum * scale) / 127 / Math.sqrt(features.length);
}

/** Returns the confidence for the likeliest sentence of a plain text, from 0 to 1. */
export function confidenceIn(model: LinearModel, text: string): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const sentence of sentencesOf(text)) {
    if (sentence.words.length >= FEWEST_WORDS) highest = Math.max(highest, marginOf(model, sentence));
  }
  return highest === Number.NEGATIVE_INFINITY ? 0 : toConfidence(highest);
}

const FEWEST_WORDS = 3;

/** Uses only the four basic operations, so that all machines get the same result. A margin of 0 gives 0.5. */
function toConfidence(margin: number): number {
  return 0.5 + margin / (2 * (1 + Math.abs(margin)));
}

export function readModel({ bias, scale, weights }: StoredModel): LinearModel {
  return { bias, scale, weights: new Int8Array(Buffer.from(weights, 'base64')) };
}

export interface StoredModel {
  readonly bias: number;
  readonly scale: number;
  readonly weights: string;
}

export const BUCKETS = 8192;

/**
 * Hashes the features of a sentence to weight indexes, each once: words, their first five letters, neighbouring pairs,
 * the beginning and the end. FNV-1a makes a word list unnecessary.
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

interface Sentence {
  readonly words: readonly string[];
  readonly ending: string;
}

const LONGEST = 40;

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
