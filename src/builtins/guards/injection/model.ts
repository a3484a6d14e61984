/** A linear model of sentences: one weight for each feature, in quarters of a thousandth of `scale`. */
interface LinearModel {
  readonly bias: number;
  readonly scale: number;
  readonly weights: Int8Array;
}

/** The sum that a sentence comes to; above 0 it is more like what is looked for than like anything else. */
function marginOf({ bias, scale, weights }: LinearModel, { words, ending }: Sentence): number {
  const features = featuresOf(words, ending);
  const sum = features.reduce((total, feature) => total + (weights[feature] ?? 0), 0);
  return bias + (sum * scale) / 127 / Math.sqrt(features.length);
}

/** How sure the model is of the likeliest sentence of a plain text, from 0 to 1. */
export function confidenceIn(model: LinearModel, text: string): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const sentence of sentencesOf(text)) {
    if (sentence.words.length >= FEWEST_WORDS) highest = Math.max(highest, marginOf(model, sentence));
  }
  return highest === Number.NEGATIVE_INFINITY ? 0 : toConfidence(highest);
}

/** Two words say too little. */
const FEWEST_WORDS = 3;

/** From 0 to 1, 0.5 at the margin 0; with four operations only, so that every machine comes to the same. */
function toConfidence(margin: number): number {
  return 0.5 + margin / (2 * (1 + Math.abs(margin)));
}

export function readModel({ bias, scale, weights }: StoredModel): LinearModel {
  return { bias, scale, weights: new Int8Array(Buffer.from(weights, 'base64')) };
}

/** As it stands in weights.ts. */
export interface StoredModel {
  readonly bias: number;
  readonly scale: number;
  readonly weights: string;
}

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

interface Sentence {
  readonly words: readonly string[];
  /** `?`, `!`, `.`, `:` or nothing. */
  readonly ending: string;
}

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
