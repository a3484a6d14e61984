import { featuresOf, type Sentence, sentencesOf } from './features.ts';

/** A linear model of sentences: one weight for each feature, in quarters of a thousandth of `scale`. */
export interface LinearModel {
  readonly bias: number;
  /** What a weight of 127 stands for. */
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
