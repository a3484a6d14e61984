import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileSelection } from '../../../src/suites/select/select.ts';
import { usedMemory } from '../dataset/support.ts';
import { makeCase, makeCases, makeProblem, namesOf, select, sourceOf } from './support.ts';

test('property: a sample has its size, the order of the dataset, and no duplicates', async () => {
  const sizes = fc.record({
    total: fc.nat(60),
    size: fc.integer({ min: 1, max: 40 }),
    seed: fc.maxSafeInteger(),
  });
  await fc.assert(
    fc.asyncProperty(sizes, async ({ total, size, seed }) => {
      const all = makeCases(total);
      const sample = await select({ sample: { size, seed } }, all);
      expect(sample.length).toBe(Math.min(size, total));
      expect(sample).toEqual(all.filter((each) => sample.includes(each)));
    }),
  );
});

test('property: an added case replaces at most one other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.nat(1000), async (total, seed) => {
      const sample = { size: 10, seed };
      const before = namesOf(await select({ sample }, makeCases(total)));
      const after = namesOf(await select({ sample }, makeCases(total + 1)));
      const kept = before.filter((number) => after.includes(number));
      expect(before.length - kept.length).toBeLessThanOrEqual(1);
      expect(after.filter((number) => !before.includes(number)).every((number) => number === total + 1)).toBe(
        true,
      );
    }),
  );
});

test('every case is equally likely to be in a sample, whatever its position', async () => {
  const seeds = Array.from({ length: 600 }, (_, seed) => seed);
  const counts = new Array<number>(20).fill(0);
  for (const seed of seeds) {
    for (const name of namesOf(await select({ sample: { size: 5, seed } }, makeCases(20)))) {
      counts[Number(name) - 1] = (counts[Number(name) - 1] ?? 0) + 1;
    }
  }
  // A quarter of 600, within four standard deviations.
  for (const count of counts) expect(Math.abs(count - 150)).toBeLessThan(43);
});

test('a seed gives the same sample on every machine', async () => {
  expect(namesOf(await select({ sample: { size: 5, seed: 7 } }, makeCases(100)))).toEqual([
    31, 70, 72, 78, 91,
  ]);
  expect(namesOf(await select({ sample: { size: 5, seed: 8 } }, makeCases(100)))).toEqual([
    1, 16, 84, 86, 100,
  ]);
});

test('cases with one id are distinguished, and the first of them are taken', async () => {
  const all = [1, 2, 3, 4].map((number) => makeCase(number, { id: 'same' }));
  expect(namesOf(await select({ sample: { size: 2, seed: 0 } }, all))).toEqual([1, 2]);
});

test('invalid rows are passed on at once and are not counted', async () => {
  const all = [makeCase(1), makeProblem(2), makeCase(3), makeProblem(4)];
  const source = sourceOf(all);
  const taken: [number | string | undefined, number][] = [];
  for await (const each of compileSelection({ sample: { size: 2, seed: 0 } })(source.candidates)) {
    taken.push([namesOf([each])[0], source.pulled()]);
  }
  expect(taken).toEqual([
    ['problem 2', 2],
    ['problem 4', 4],
    [1, 4],
    [3, 4],
  ]);
});

test('cases outside the sample are released', async () => {
  const total = 10_000;
  let early = 0;
  let late = 0;
  const generate = function* () {
    for (let number = 1; number <= total; number++) {
      yield makeCase(number, { text: Array.from({ length: 500 }, () => number) });
      if (number === total / 10) early = usedMemory();
      if (number === total - 10) late = usedMemory();
    }
  };
  expect((await select({ sample: { size: 200, seed: 0 } }, generate())).length).toBe(200);
  // All of them are about 40 MiB.
  expect(late - early).toBeLessThan(5);
});
