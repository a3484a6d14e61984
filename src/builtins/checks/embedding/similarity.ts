import { Json } from '../../../base/json/json.ts';
import { type EvalOutcome, scored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { expectedOf, expectedParam } from '../reference/reference-params.ts';
import { compareToFirst } from './cosine.ts';
import { embedderParam, embedTexts } from './embed-texts.ts';

/** Source: https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/semantic_similarity/ */
export const similarity: Check = {
  type: 'similarity',
  aliases: ['semantic_similarity', 'answer_similarity'],
  family: 'embedding',
  summary:
    'How near the content is to an expected text in meaning: the cosine between their embeddings, 0 where it is negative. Content without text is unscored.',
  range: '0..1',
  params: {
    expected: { ...expectedParam, aliases: ['references', 'reference', 'against'] },
    provider: { ...embedderParam, aliases: ['embedding_provider'] },
  },
  example: {
    params: { expected: ['The capital is Oslo.', 'It is Bergen.'] },
    content: 'Oslo is the capital.',
    embeddings: {
      'Oslo is the capital.': [3, 4],
      'The capital is Oslo.': [4, 3],
      'It is Bergen.': [4, -3],
    },
    score: 0.96,
  },
  run: scoreSimilarity,
};

async function scoreSimilarity(input: CheckInput): Promise<EvalOutcome> {
  const expected = expectedOf(input.params);
  const texts = [input.request.content, ...expected];
  const embedded = await embedTexts(input, input.params['provider'], texts);
  if ('status' in embedded) return embedded;
  const { vectors, provider, model } = embedded;
  const similarities = compareToFirst(vectors);
  if ('status' in similarities) return similarities;
  const best = similarities.reduce((most, value) => Math.max(most, value), -1);
  const which = similarities.length > 1 ? `, to expected[${similarities.indexOf(best)}]` : '';
  const data = Json.from({ similarity: best, similarities, provider, model });
  return scored(Math.max(0, best), `similarity ${best.toFixed(4)}${which}`, data);
}
