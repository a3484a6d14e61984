import { expect, test } from 'vitest';
import { loadResults, type Rating, type RunSource } from '../../../src/index.ts';
import { caseOf, epochOf, headerOf, resultOf } from '../report/html/samples.ts';

/** A run of two variants: `a` passes all cases, `b` none. */
function sourceOf(cases: number, ratings: readonly Partial<Rating>[]): RunSource {
  const variants = ['a', 'b'].map((name) => ({ name, provider: name }));
  const records = Array.from({ length: cases }, (_, index) =>
    variants.map(({ name: variant }) => {
      const passed = variant === 'a';
      const epochs = [epochOf({ results: [resultOf({ score: passed ? 1 : 0, passed })] })];
      return { ...caseOf(index + 1, epochs), variant };
    }),
  ).flat();
  const rating = { eval: 'exact', by: 'mara', at: '', score: null, label: null, comment: null };
  return {
    header: { ...headerOf(), variants },
    report: undefined,
    async *cases() {
      yield* records;
    },
    async *ratings() {
      for (const each of ratings) yield { case: 'case-1', ...rating, ...each };
    },
  };
}

const said = (id: number, variant: string, label: string, by = 'mara') => ({
  ...{ case: `case-${id}`, variant, label, by },
});

test('each variant is measured separately and all together, without errors and cases [DS-AGREE-07]', async () => {
  const { measureRatings } = await loadResults();
  const ratings = [
    ...[1, 2, 3].map((id) => said(id, 'a', 'pass')),
    said(4, 'a', 'fail'),
    ...[1, 2].map((id) => said(id, 'b', 'fail')),
    said(1, 'a', 'pass', 'ada'),
    said(1, 'b', 'pass', 'ada'),
  ];
  const found = await measureRatings(sourceOf(4, ratings));
  const pooled = { ...found.evals['exact'] };
  expect(pooled.people?.[1]).toMatchObject({
    ...{ by: 'mara', ratings: 6, unscored: 0, disagreements: [] },
    agreement: {
      n: 6,
      both_passed: 3,
      only_eval: 1,
      only_person: 0,
      both_failed: 2,
      stderr: null,
      ci95: null,
    },
  });
  // (5/6 - 1/2) / (1 - 1/2).
  expect(pooled.people?.[1]?.agreement?.kappa).toBeCloseTo(2 / 3, 10);
  expect(pooled.between).toMatchObject([
    { by: ['ada', 'mara'], agreement: { n: 2, only_first: 1, ci95: null }, disagreements: [] },
  ]);
  expect(found.variants?.map(({ name }) => name)).toEqual(['a', 'b']);
  const [a, b] = (found.variants ?? []).map(({ evals }) => evals['exact']);
  expect(a?.people[1]).toMatchObject({
    agreement: { n: 4, both_passed: 3, only_eval: 1, ci95: expect.any(Array) },
    disagreements: [{ case: 'case-4', eval_passed: true, person_passed: false }],
  });
  expect(b).toMatchObject({
    people: [
      { by: 'ada', disagreements: [{ case: 'case-1' }] },
      { by: 'mara', agreement: { n: 2, both_failed: 2, kappa: null } },
    ],
    between: [{ disagreements: ['case-1'] }],
  });
});

test('one variant alone is a run without variants, and unrated ones are omitted', async () => {
  const { measureRatings } = await loadResults();
  const source = sourceOf(2, [said(1, 'b', 'pass')]);
  const alone = await measureRatings(source, { variant: 'b' });
  expect(alone).not.toHaveProperty('variants');
  expect(alone.evals['exact']?.people[0]).toMatchObject({ disagreements: [{ case: 'case-1' }] });
  expect((await measureRatings(source)).variants?.map(({ name }) => name)).toEqual(['b']);
  expect((await measureRatings(source, { variant: 'a' })).evals).toEqual({});
  await expect(measureRatings(source, { variant: 'c' })).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
  expect(await measureRatings(sourceOf(1, []))).toMatchObject({ evals: {}, cases: null, variants: [] });
});
