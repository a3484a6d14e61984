import { type EvalOutcome, scored, unscored } from '../../contract/eval.ts';
import { Json } from '../../json/json.ts';
import type { Check, CheckInput } from '../check.ts';
import { toPlainTree } from '../plain-tree.ts';

export const cosineSimilarity: Check = {
  type: 'cosine_similarity',
  aliases: [],
  family: 'text',
  summary:
    'The cosine between the embedding in `context.metadata.embedding` and the reference; 0 where it is negative.',
  range: '0..1',
  params: {
    reference: {
      schema: { anyOf: [{ type: 'array', items: { type: 'number' }, minItems: 1 }, { type: 'string' }] },
      required: true,
      description: 'An embedding; a text leaves the eval unscored, as there is nothing to embed it with.',
    },
    min_similarity: {
      schema: { type: 'number', minimum: -1, maximum: 1 },
      description: 'Told in the detail; what passes is up to the threshold.',
    },
  },
  example: { params: { reference: [1, 0] }, context: { metadata: { embedding: [3, 4] } }, score: 0.6 },
  run: scoreSimilarity,
};

function scoreSimilarity({ params: { reference, min_similarity }, request }: CheckInput): EvalOutcome {
  if (typeof reference === 'string') {
    return unscored('`reference` is a text, and there is nothing to embed it with; give a list of numbers');
  }
  const one = toVector(request.context.metadata['embedding']);
  const other = toVector(reference);
  if (one === undefined) return unscored('`context.metadata.embedding` is not a list of numbers');
  if (other === undefined) return unscored('`reference` is not a list of numbers');
  if (one.length !== other.length) {
    return unscored(`the embedding has ${one.length} numbers, and the reference ${other.length}`);
  }
  const similarity = cosine(one, other);
  if (!Number.isFinite(similarity)) return unscored('one of the embeddings has no direction');
  const wanted = min_similarity === undefined ? '' : `, at least ${min_similarity}`;
  const score = Math.min(1, Math.max(0, similarity));
  return scored(score, `similarity ${similarity.toFixed(4)}${wanted}`, Json.from({ similarity }));
}

function toVector(value: unknown): readonly number[] | undefined {
  const plain = Array.isArray(value) || value instanceof Json ? toPlainTree(value) : undefined;
  return Array.isArray(plain) && plain.every((item) => typeof item === 'number') ? plain : undefined;
}

/** NaN when one of the vectors is all zeroes. */
function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one)) / Math.sqrt(dot(other, other));
}
