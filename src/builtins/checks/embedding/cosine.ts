import { type EvalUnscored, unscored } from '../../../contract/eval.ts';

/** Returns the cosine of the first vector with each other one; unscored if one of them is undefined. */
export function compareToFirst(vectors: readonly (readonly number[])[]): readonly number[] | EvalUnscored {
  const [first = [], ...others] = vectors;
  const similarities: number[] = [];
  for (const other of others) {
    const value = cosine(first, other);
    if (typeof value === 'string') return unscored(value);
    similarities.push(value);
  }
  return similarities;
}

/** From -1 to 1, or the reason why there is no cosine. */
export function cosine(one: readonly number[], other: readonly number[]): number | string {
  if (one.length !== other.length) {
    return `the embeddings have different lengths: ${one.length} and ${other.length}`;
  }
  const [a, b] = [scaled(one), scaled(other)];
  const similarity = dot(a, b) / Math.sqrt(dot(a, a)) / Math.sqrt(dot(b, b));
  if (!Number.isFinite(similarity)) return 'one of the embeddings has zero length or invalid numbers';
  return Math.min(1, Math.max(-1, similarity));
}

/** Scales the numbers to at most 1, so that their squares neither overflow nor vanish. */
function scaled(vector: readonly number[]): readonly number[] {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return vector.map((value) => value / largest);
}

function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}
