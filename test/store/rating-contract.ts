import { expect, test } from 'vitest';
import type { KeptRating, ResultStore } from '../../src/store/result-store.ts';
import { exactText, hardStrings, newResultRun, withRuns } from './examples.ts';
import { codeOf } from './result-contract.ts';

function ratingOf(members: Partial<KeptRating> = {}): KeptRating {
  return { caseId: 'c1', eval: '', by: 'ada', at: 1, text: '{"score":1}', ...members };
}

export function keepsRatings(openEmpty: () => Promise<ResultStore>): void {
  const open = withRuns(openEmpty);
  const allOf = async (results: ResultStore, runId: string, caseId?: string) =>
    (await Array.fromAsync(results.ratings(runId, { caseId }))).toSorted((one, other) => one.at - other.at);

  test('a person’s last rating of a case, and of each of its evals, counts', async () => {
    const results = await open('r1', 'r2');
    const others = [
      ratingOf({ by: 'joe', at: 2 }),
      ratingOf({ eval: 'exact', at: 3 }),
      ratingOf({ caseId: 'c2', at: 4 }),
    ];
    for (const rating of [ratingOf(), ...others]) await results.keepRating('r1', rating);
    const last = ratingOf({ at: 5, text: exactText });
    await results.keepRating('r1', last);
    expect(await allOf(results, 'r1')).toEqual([...others, last]);
    expect(await allOf(results, 'r1', 'c2')).toEqual(others.slice(2));
    expect([await allOf(results, 'r2'), await allOf(results, 'gone')]).toEqual([[], []]);
  });

  test('each variant of a case has its own rating, separate from a rating without a variant', async () => {
    const results = await open('r1');
    const places = [{}, { variant: 'small' }, { variant: 'large' }, { variant: '' }];
    for (const [at, place] of places.entries()) await results.keepRating('r1', ratingOf({ ...place, at }));
    await results.keepRating('r1', ratingOf({ variant: 'small', at: 9 }));
    expect((await allOf(results, 'r1', 'c1')).map(({ at }) => at)).toEqual([0, 2, 3, 9]);
    const taken = { caseId: 'c1', eval: '', by: 'ada', variant: 'large' };
    expect(await results.removeRating('r1', taken)).toBe(true);
    expect((await allOf(results, 'r1')).map(({ at }) => at)).toEqual([0, 3, 9]);
  });

  test('a rating can be withdrawn once', async () => {
    const results = await open('r1');
    await results.keepRating('r1', ratingOf());
    const place = { caseId: 'c1', eval: '', by: 'ada' };
    expect([
      await results.removeRating('r1', { ...place, by: 'joe' }),
      await results.removeRating('r1', place),
      await results.removeRating('r1', place),
      await results.removeRating('gone', place),
    ]).toEqual([false, true, false, false]);
    expect(await allOf(results, 'r1')).toEqual([]);
  });

  test('a missing run accepts no rating, and a removed run loses its ratings', async () => {
    const results = await open();
    expect(await codeOf(() => results.keepRating('r1', ratingOf()))).toBe('STORE_FAILED');
    await results.createRun(newResultRun('r1', { createdAt: 1 }));
    await results.keepRating('r1', ratingOf());
    await results.prune(2);
    await results.createRun(newResultRun('r1'));
    expect(await allOf(results, 'r1')).toEqual([]);
  });

  test('ratings keep difficult texts, and texts longer than an index allows', async () => {
    const results = await open('r1');
    const texts = [...hardStrings, 'x'.repeat(20_000)];
    const ratings = texts.map((text, at) => ratingOf({ caseId: text, eval: text, by: text, text, at }));
    for (const rating of ratings) await results.keepRating('r1', rating);
    expect(await allOf(results, 'r1')).toEqual(ratings);
    expect(await allOf(results, 'r1', texts[0])).toEqual(ratings.slice(0, 1));
  });

  test('more ratings than fit a page are read while others are added', async () => {
    const results = await open('r1');
    const variantOf = (at: number) => (at % 2 === 0 ? {} : { variant: 'small' });
    for (let at = 0; at < 450; at += 1) {
      await results.keepRating('r1', ratingOf({ caseId: `c${at}`, at, ...variantOf(at) }));
    }
    let read = 0;
    const seen = new Set<string>();
    for await (const { caseId } of results.ratings('r1')) {
      read += 1;
      seen.add(caseId);
      await results.keepRating('r1', ratingOf({ caseId, at: 1000, ...variantOf(Number(caseId.slice(1))) }));
    }
    expect([seen.size, read]).toEqual([450, 450]);
  });
}
