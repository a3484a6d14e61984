import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { cosine } from '../embedding/cosine.ts';
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
      description: 'An embedding. A text leaves the eval unscored: `similarity` embeds texts.',
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
    return unscored('`reference` is a text; give a list of numbers, or let `similarity` embed it');
  }
  const one = toVector(request.context.metadata['embedding']);
  const other = toVector(reference);
  if (one === undefined) return unscored('`context.metadata.embedding` is not a list of numbers');
  if (other === undefined) return unscored('`reference` is not a list of numbers');
  const similarity = cosine(one, other);
  if (typeof similarity === 'string') return unscored(similarity);
  const wanted = min_similarity === undefined ? '' : `, at least ${min_similarity}`;
  return scored(
    Math.max(0, similarity),
    `similarity ${similarity.toFixed(4)}${wanted}`,
    Json.from({ similarity }),
  );
}

function toVector(value: unknown): readonly number[] | undefined {
  const plain = Array.isArray(value) || value instanceof Json ? toPlainTree(value) : undefined;
  return Array.isArray(plain) && plain.every((item) => typeof item === 'number') ? plain : undefined;
}
