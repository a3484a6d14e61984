import { describe, expect, test } from 'vitest';
import { type Asking, ask, scoreOf } from './asking.ts';
import { rougePrediction, rougeTarget } from './reference-cases.ts';

type Row = readonly [title: string, asking: Asking, score: number | string];

function judges(type: string, rows: readonly Row[]): void {
  describe(type, () => {
    test.each(rows)('%s', async (_title, asking, score) => {
      const given = await scoreOf(type, asking);
      if (typeof score === 'string') expect(given).toBe(score);
      else expect(given).toBeCloseTo(score, 4);
    });
  });
}

const asked = (content: string, expected: unknown, more: object = {}): Asking => ({
  params: { expected, ...more },
  content,
});

judges('exact_match', [
  ['case, punctuation, spaces and articles do not count', asked(' THE  Cat, sat.\n', 'a cat sat'), 1],
  ['another word does', asked('the dog sat', 'a cat sat'), 0],
  ['one of several', asked('Tour Eiffel', ['Eiffel Tower', 'tour eiffel']), 1],
  ['a number', asked('42.', 42), 1],
  ['letters of other scripts', asked('北京。', '北京'), 1],
  ['nothing is nothing but articles', asked('', 'the'), 1],
  ['nothing is not something', asked('', 'Oslo'), 0],
  [
    'one of a hundred thousand',
    asked(
      'answer 99999',
      Array.from({ length: 100_000 }, (_, at) => `answer ${at}`),
    ),
    1,
  ],
  ['more than can be compared', asked('x '.repeat(30_000_000), 'x'), 'the content is too long to compare'],
]);

// Computed with the official script of SQuAD 2.0.
judges('token_f1', [
  ['all words', asked('The Norman dynasty', 'Norman dynasty'), 1],
  ['half of them, and no other', asked('Oslo', 'Oslo Norway'), 2 / 3],
  ['a word as often as both have it', asked('no no no', 'no no yes'), 2 / 3],
  ['the best of several', asked('10th century', ['tenth century', '10th century']), 1],
  ['none', asked('Oslo', 'Bergen'), 0],
  ['nothing where nothing is expected', asked('', ''), 1],
  ['nothing where something is', asked('', 'Oslo'), 0],
  ['more than can be compared', asked('x '.repeat(600_000), 'x'), 'the texts are too long to compare'],
]);

judges('choice', [
  ['the last that is called the answer', asked('Answer: A? No. The answer is (C).', 'C'), 1],
  ['the one in front', asked('B) because of the weather', 'B'), 1],
  ['bold and alone', asked('**d**', 'D'), 1],
  ['the only one that is named', asked('It must be C, I think.', 'C'), 1],
  ['an article is no choice', asked('A dog barks.\nC', 'A'), 0],
  ['two of them', asked('A or B', 'A'), 0],
  ['none', asked('I do not know.', 'A'), 0],
  ['words', asked('I would say: unlikely', 'Unlikely', { choices: ['Likely', 'Unlikely'] }), 1],
  [
    'a choice that begins like another',
    asked('Answer: yes, mostly', 'yes, mostly', { choices: ['yes', 'yes, mostly'] }),
    1,
  ],
  ['signs that mean something in patterns', asked('answer: C++', 'C++', { choices: ['C', 'C++', '.*'] }), 1],
  ['a flood of spaces', asked(`${'answer '.repeat(20_000)}${' '.repeat(200_000)}`, 'A'), 0],
]);

test('an expected choice that is not among the choices is an error in the file', async () => {
  expect(await scoreOf('choice', asked('A', 'F'))).toContain('is not one of the choices A, B, C, D, E');
});

const fox = 'The quick brown fox jumps over the lazy dog';

judges('rouge', [
  ['rouge1', asked('testing', 'testing one two'), 1 / 2],
  ['rouge1, recall', asked('testing', 'testing one two', { measure: 'recall' }), 1 / 3],
  ['rouge2', asked('testing one', 'testing one two', { variant: 'rouge2' }), 2 / 3],
  [
    'rougeL of what does not follow at once',
    asked('testing two', 'testing one two', { variant: 'rougeL' }),
    4 / 5,
  ],
  ['nothing', asked('', 'testing one two', { variant: 'rougeL' }), 0],
  ['signs alone', asked('/', 'w1 w2', { variant: 'rouge2' }), 0],
  ['rouge1 of ROUGE-1.5.5', asked(rougePrediction, rougeTarget), 0.51163],
  ['rouge1 of ROUGE-1.5.5, precision', asked(rougePrediction, rougeTarget, { measure: 'precision' }), 0.6875],
  ['rouge2 of ROUGE-1.5.5', asked(rougePrediction, rougeTarget, { variant: 'rouge2' }), 0.39024],
  [
    'rougeL of ROUGE-1.5.5, recall',
    asked(rougePrediction, rougeTarget, { variant: 'rougeL', measure: 'recall' }),
    0.40741,
  ],
  ['rouge1 of sentences', asked('The quick brown dog jumps on the log.', fox), 0.70588],
  [
    'rougeL of sentences',
    asked('The quick brown dog jumps on the log.', fox, { variant: 'rougeL' }),
    0.58824,
  ],
  ['the best of several', asked('one two', ['three', 'one two']), 1],
  ['letters of other scripts', asked('mat är gott', 'mat är gott'), 1],
  [
    'more than can be compared',
    asked('a b '.repeat(30_000), 'a b '.repeat(30_000), { variant: 'rougeL' }),
    'the texts are too long for rougeL',
  ],
]);

// test/test_sentence_bleu.py of sacreBLEU, Apache-2.0, divided by 100.
judges('bleu', [
  [
    'sacreBLEU’s sentence',
    asked(
      'Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;',
      'producţia de zahăr brut se exprimă în zahăr alb;',
    ),
    0.08493,
  ],
  ['nothing in common', asked('this is a cat', 'okay thanks'), 0],
  ['nothing', asked('', 'okay thanks'), 0],
  ['the same', asked('It costs $3.50 -- "really"?', 'It costs $3.50 -- "really"?'), 1],
  ['a sentence shorter than four words', asked('a test', 'a test'), 1],
  ['too short', asked('test', 'a test'), Math.exp(-1)],
  ['the nearer length of several', asked('the dog bit the man', ['the dog bit the man', 'x y z']), 1],
]);

test('details show the computation', async () => {
  const outcome = await ask('rouge', asked('testing', 'testing one two'));
  expect(outcome).toMatchObject({ status: 'scored', detail: 'rouge1 f1 0.500' });
  expect(outcome.status === 'scored' && outcome.data?.value).toEqual({
    precision: 1,
    recall: 1 / 3,
    f1: 0.5,
  });
});

describe('number_match', () => {
  test.each([
    ['The answer is 1,234.5.', { expected: 1234.5 }, 1],
    ['3 + 4 = 7', { expected: 7 }, 1],
    ['7, not 8', { expected: 7 }, 0],
    ['−0.3', { expected: -0.3 }, 1],
    ['1.3e3 m', { expected: 1300 }, 1],
    ['0.9', { expected: 1, tolerance: 0.1 }, 1],
    ['0.3', { expected: 0.1, tolerance: 0.2 }, 1],
    ['0.30000001', { expected: 0.1, tolerance: 0.2 }, 0],
    ['99', { expected: 100, relative: 0.01 }, 1],
    ['98.9', { expected: 100, relative: 0.01 }, 0],
    ['none', { expected: 0 }, 0],
    ['9007199254740993', { expected: 9007199254740992 }, 0],
  ])('%j with %j scores %d', async (content, params, score) => {
    expect(await scoreOf('number_match', { content, params })).toBe(score);
  });
});
