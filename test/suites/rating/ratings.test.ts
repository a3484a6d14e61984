import { expect, onTestFinished, test } from 'vitest';
import { noopScrubber } from '../../../src/contract/scrub.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { keepRating, listRatings, removeRating } from '../../../src/suites/rating/ratings.ts';
import { newResult, newResultRun } from '../../store/examples.ts';
import { newFile } from '../../store/processes.ts';

const variants = ['a', 'b', 'c'].map((name) => ({ name, provider: name }));

test('a case that a variant lacks, as after an interrupt, is not rated there [DS-MATRIX-10]', async () => {
  const store = await openSqliteResults(newFile());
  onTestFinished(() => store.close());
  await store.createRun(newResultRun('r1'));
  // The second row of the second variant, one of the row's three numbers.
  await store.put(newResult('r1', { number: 5, caseId: 'two' }));
  const run = { store, header: { run_id: 'r1', evals: [], variants } };
  const rate = async (variant: string) =>
    await keepRating(run, { case: 'two', variant, by: 'ada', score: 1 }, noopScrubber);
  await expect(rate('a')).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
  await expect(rate('c')).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
  expect(await rate('b')).toMatchObject({ case: 'two', variant: 'b', score: 1 });
  expect(await Array.fromAsync(listRatings(store, 'r1', 'two'))).toMatchObject([{ variant: 'b' }]);
  await removeRating(run, { case: 'two', variant: 'b', by: 'ada' });
  expect(await Array.fromAsync(listRatings(store, 'r1', undefined))).toEqual([]);
});
