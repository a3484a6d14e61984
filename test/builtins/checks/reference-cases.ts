import type { Asking } from './asking.ts';

interface ReferenceCases {
  readonly type: string;
  readonly source: string;
  readonly rows: readonly { readonly asking: Asking; readonly score: number }[];
}

const row = (content: string, expected: unknown, score: number, more: object = {}) => ({
  asking: { content, params: { expected, ...more } },
  score,
});

/**
 * The scores of ROUGE-1.5.5 for a pair of lines: rouge/testdata and rouge_scorer_test.py of google-research,
 * Apache-2.0.
 */
export const rougeTarget = `ZfbCUIUuePaiLVUlCaUXxkpu XPeWing tUHfPMuZ',-Xd Y BrUgVJing M-HV.-DgdDaY.rFDJCRing Ht-LM EKBDXkME,yz'RBr q'wtion wIojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxer tKM L`;
export const rougePrediction = `rFDJCRtion Ht-LM EKtDXkME,yz'RBr q'wer wrojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxi`;

const near = (one: readonly number[], other: readonly number[], score: number) => ({
  asking: { content: 'one', params: { expected: 'other' }, embeddings: { one, other } },
  score,
});

/** Ragas: the mean cosine of the question and the generated questions, or 0 if all of them are noncommittal. */
const relevant = (
  question: readonly number[],
  written: readonly (readonly number[])[],
  { score, noncommittal = false }: { readonly score: number; readonly noncommittal?: boolean },
) => {
  const questions = written.map((_, at) => `written ${at}`);
  const vectors = written.map((vector, at) => [`written ${at}`, vector] as const);
  return {
    asking: {
      content: 'an answer',
      params: { question: 'asked', questions: written.length },
      judge: JSON.stringify({ questions, noncommittal }),
      embeddings: { asked: question, ...Object.fromEntries(vectors) },
    },
    score,
  };
};

/** Values that reference implementations publish in their own tests, to the digits given there. */
export const referenceCases: readonly ReferenceCases[] = [
  {
    type: 'rouge',
    source: 'rouge_score, ROUGE-1.5.5',
    rows: [
      row('testing', 'testing one two', 1 / 2),
      row('testing', 'testing one two', 1 / 3, { measure: 'recall' }),
      row('testing one', 'testing one two', 2 / 3, { variant: 'rouge2' }),
      row('testing two', 'testing one two', 4 / 5, { variant: 'rougeL' }),
      row('/', 'w1 w2', 0, { variant: 'rouge2' }),
      row(rougePrediction, rougeTarget, 0.51163),
      row(rougePrediction, rougeTarget, 0.6875, { measure: 'precision' }),
      row(rougePrediction, rougeTarget, 0.39024, { variant: 'rouge2' }),
      row(rougePrediction, rougeTarget, 0.40741, { variant: 'rougeL', measure: 'recall' }),
    ],
  },
  {
    type: 'bleu',
    source: 'sacreBLEU',
    rows: [
      row(
        'Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;',
        'producţia de zahăr brut se exprimă în zahăr alb;',
        0.08493,
      ),
      row('this is a cat', 'okay thanks', 0),
    ],
  },
  {
    type: 'similarity',
    source: 'SciPy, cosine distance; hrep, cosine similarity',
    rows: [
      near([1, 0, 0], [0, 1, 0], 0),
      near([100, 0, 0], [0, 1, 0], 0),
      near([1, 1, 0], [0, 1, 0], 1 - 0.29289321881345254),
      near(
        Array.from({ length: 10 }, () => 1),
        Array.from({ length: 10 }, () => 2),
        1,
      ),
      near([0, 3, 0, 0, 2, 0, 0, 2, 0, 5], [1, 2, 0, 0, 1, 1, 0, 1, 0, 3], 0.9356015),
    ],
  },
  {
    type: 'answer_relevance',
    source: 'Ragas’ formula, worked out by hand',
    rows: [
      relevant([1, 0], [[1, 0]], { score: 1 }),
      relevant(
        [2, 0],
        [
          [3, 4],
          [4, 3],
          [0, 5],
        ],
        { score: (0.6 + 0.8 + 0) / 3 },
      ),
      relevant(
        [1, 0],
        [
          [1, 0],
          [-1, 0],
          [1, 0],
        ],
        { score: 1 / 3 },
      ),
      relevant([1, 0], [[1, 0]], { score: 0, noncommittal: true }),
    ],
  },
];
