import type { Check } from '../check.ts';
import { answerRelevance } from './answer-relevance.ts';
import { similarity } from './similarity.ts';

/** Checks that compare embeddings of texts, which a model gives. */
export const embeddingChecks: readonly Check[] = [similarity, answerRelevance];
