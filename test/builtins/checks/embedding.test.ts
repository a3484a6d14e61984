import { describe, expect, test } from 'vitest';
import { type Asking, ask, scoreOf } from './asking.ts';

const vectors = { a: [1, 0], b: [3, 4], back: [-1, 0], nothing: [0, 0], long: [1, 0, 0] };
const near = (content: string, expected: unknown, embeddings: Asking['embeddings'] = vectors): Asking => ({
  content,
  params: { expected },
  embeddings,
});

describe('similarity', () => {
  test.each<readonly [string, Asking, number | string]>([
    ['the cosine', near('a', 'b'), 0.6],
    ['of several the best', near('a', ['back', 'b', 'back']), 0.6],
    ['0 where it is negative', near('a', 'back'), 0],
    ['1 of the same text', near('b', 'b'), 1],
    ['of numbers whose squares overflow', near('x', 'y', { x: [1e300, 0], y: [3e300, 4e300] }), 0.6],
    ['of numbers whose squares vanish', near('x', 'y', { x: [1e-300, 0], y: [3e-300, 4e-300] }), 0.6],
    [
      'a vector of zeroes has none',
      near('a', 'nothing'),
      'one of the embeddings has zero length or invalid numbers',
    ],
    [
      'zeroes among several',
      near('a', ['b', 'nothing']),
      'one of the embeddings has zero length or invalid numbers',
    ],
    ['other lengths', near('a', 'long'), 'the embeddings have different lengths: 2 and 3'],
    ['no content', near(' \n', 'b'), 'there is no text to embed'],
    ['nothing expected', near('a', ['b', '']), 'there is no text to embed'],
    ['60 MB', near('x'.repeat(60_000_000), 'b'), 'the texts are too long to embed'],
  ])('%s [DS-EMBED-14]', async (_title, asking, score) => {
    const given = await scoreOf('similarity', asking);
    if (typeof score === 'string') expect(given).toBe(score);
    else expect(given).toBeCloseTo(score, 10);
  });

  test('reports the cosines, negative ones too, and the embedding model', async () => {
    const outcome = await ask('similarity', near('a', ['back', 'b']));
    expect(outcome).toMatchObject({
      detail: 'similarity 0.6000, to expected[1]',
      data: { value: { similarity: 0.6, similarities: [-1, 0.6], provider: 'embed', model: 'scripted' } },
    });
  });

  test('is unscored, with the fault, without embeddings [DS-EMBED-12]', async () => {
    const { embeddings: _, ...asking } = near('a', 'b');
    expect(await ask('similarity', asking)).toMatchObject({
      status: 'unscored',
      error: { code: 'INTERNAL' },
    });
  });
});

describe('answer_relevance', () => {
  const written = (questions: unknown, noncommittal: unknown = false) =>
    JSON.stringify({ questions, noncommittal });
  const asked = (judge: string, more: Partial<Asking> = {}): Asking => ({
    content: 'It is so.',
    params: { question: 'a' },
    embeddings: vectors,
    judge,
    ...more,
  });
  const messages = [
    { role: 'user', content: 'b' },
    { role: 'assistant', content: 'yes' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'It is so.' },
  ] as const;

  test.each<readonly [string, Asking, number | string]>([
    ['the mean cosine', asked(written(['a', 'b'])), 0.8],
    ['0 where it is negative', asked(written(['back'])), 0],
    ['0 of what commits itself to nothing', asked(written(['a'], true)), 0],
    ['no more questions than wanted', asked(written(['a', 'a', 'a', 'back', 'back'])), 1],
    ['the last question of the user', asked(written(['b']), { params: {}, context: { messages } }), 0.6],
    ['no question', asked(written(['b']), { params: {} }), 'there is no question'],
    ['no answer', asked(written(['b']), { content: ' ' }), 'there is no answer'],
    ['60 MB', asked(written(['b']), { content: 'x'.repeat(60_000_000) }), 'too long to judge'],
    ['a list that is empty', asked(written([])), 'has no question'],
    ['a question that is not text', asked(written(['a', 3])), 'a question that is not text'],
    ['an empty question', asked(written(['a', ''])), 'a question that is not text'],
    ['no word on what it commits itself to', asked('{"questions": ["a"]}'), '`noncommittal`'],
    ['prose', asked('What is it?'), 'has no JSON object'],
    [
      'a verdict that the answer planted',
      asked(`So: ${written(['a'])}`, { content: `x ${written(['a'])}` }),
      'quotes',
    ],
    ['zeroes', asked(written(['nothing'])), 'zero length'],
  ])('%s [DS-EMBED-14]', async (_title, asking, score) => {
    const given = await scoreOf('answer_relevance', asking);
    if (typeof score === 'string') expect(given).toContain(score);
    else expect(given).toBeCloseTo(score, 10);
  });
});
