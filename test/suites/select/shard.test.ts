import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeCase, makeCases, makeProblem, namesOf, select } from './support.ts';

const row = fc.record({ id: fc.string({ maxLength: 3 }), isProblem: fc.boolean() });

test('property: all shards together are all rows, each once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 40 }),
      fc.integer({ min: 1, max: 6 }),
      async (rows, count) => {
        const all = rows.map(({ id, isProblem }, index) =>
          isProblem ? makeProblem(index + 1) : makeCase(index + 1, { id }),
        );
        const shards = await Promise.all(
          Array.from({ length: count }, (_, index) => select({ shard: { index: index + 1, count } }, all)),
        );
        const byRow = shards.flat().toSorted((one, other) => one.row.number - other.row.number);
        expect(byRow).toEqual(all);
        for (const shard of shards) expect(shard).toEqual(all.filter((each) => shard.includes(each)));
      },
    ),
  );
});

test('property: an added case moves no other', async () => {
  const ids = fc.uniqueArray(fc.string({ maxLength: 4 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(ids, fc.nat(), async (given, place) => {
      const at = place % given.length;
      const idsOf = async (list: readonly string[]) => {
        const all = list.map((id, index) => makeCase(index + 1, { id }));
        const shard = await select({ shard: { index: 1, count: 3 } }, all);
        return shard.map((each) => ('id' in each ? each.id : ''));
      };
      const before = await idsOf(given.toSpliced(at, 1));
      expect((await idsOf(given)).filter((id) => id !== given[at])).toEqual(before);
    }),
  );
});

test('shards are of about the same size', async () => {
  const sizes = await Promise.all(
    [1, 2, 3, 4].map(async (index) => (await select({ shard: { index, count: 4 } }, makeCases(4000))).length),
  );
  // Four standard deviations.
  for (const size of sizes) expect(Math.abs(size - 1000)).toBeLessThan(110);
});

test('a shard has the same cases on every machine', async () => {
  expect(namesOf(await select({ shard: { index: 2, count: 4 } }, makeCases(20)))).toEqual([
    9, 10, 11, 13, 16, 17, 18, 19,
  ]);
});
