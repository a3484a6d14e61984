import { expect, test } from 'vitest';
import { openMatrix, openView } from './support.ts';

test('a run of a matrix accepts ratings of its variants only [DS-MATRIX-10] [DS-VIEW-05]', async () => {
  const { runtime, id, ratings } = await openMatrix();
  const { get, rate } = await openView([runtime]);
  const place = { case: 'one' };
  const sent = await rate(id, { ...place, variant: 'large', eval: 'says_yes', score: 1 });
  const kept = { ...place, by: 'ada', variant: 'large', eval: 'says_yes', score: 1 };
  expect(JSON.parse(sent.text)).toMatchObject(kept);
  expect((await get(`/evals/runs/${id}/report`)).text).toMatch(/^rating \{"case":"one","variant":"large"/m);
  const refused = [
    await rate(id, { ...place, score: 1 }),
    await rate(id, { ...place, variant: 'larg', score: 1 }),
    await rate(id, { ...place, variant: 7, score: 1 }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 404, 400]);
  expect(await ratings()).toMatchObject([kept]);
  const method = 'DELETE';
  const other = await rate(id, { ...place, variant: 'small', eval: 'says_yes' }, { method });
  const removed = await rate(id, { ...place, variant: 'large', eval: 'says_yes' }, { method });
  expect([other.status, JSON.parse(removed.text)]).toEqual([404, { removed: true }]);
  expect(await ratings()).toEqual([]);
});
