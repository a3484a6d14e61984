import { expect, test } from 'vitest';
import { createBatches } from '../../src/store/batches.ts';

function open(options: Parameters<typeof createBatches>[1] = {}) {
  const done: number[][] = [];
  const batches = createBatches(async (numbers: readonly number[]) => {
    done.push([...numbers]);
    if (numbers.some((number) => number < 0)) throw new Error('negative');
    return numbers.map((number) => 2 * number);
  }, options);
  const add = async (...numbers: number[]) =>
    (await Promise.allSettled(numbers.map(batches.add))).map((each) =>
      each.status === 'fulfilled' ? each.value : each.reason.message,
    );
  return { batches, done, add };
}

test('concurrent requests are handled together, and each gets its own answer', async () => {
  const { done, add } = open();
  expect(await add(1, 2, 3)).toEqual([2, 4, 6]);
  expect(done).toEqual([[1, 2, 3]]);
});

test('a faulty one fails alone', async () => {
  const { done, add } = open();
  expect(await add(1, -2, 3)).toEqual([2, 'negative', 6]);
  expect(done).toEqual([[1, -2, 3], [1], [-2], [3]]);
});

test('a shared error fails all of them at once', async () => {
  const { done, add } = open({ ofAll: () => true });
  expect(await add(1, -2, 3)).toEqual(['negative', 'negative', 'negative']);
  expect(done).toHaveLength(1);
});

test('a batch has a maximal size, and other work runs between batches', async () => {
  const { batches, done, add } = open({ most: 2 });
  const adding = add(1, 2, 3);
  const between = batches.run(async () => done.flat().length);
  expect([await adding, await between]).toEqual([[2, 4, 6], 2]);
  expect(done).toEqual([[1, 2], [3]]);
  await batches.onIdle();
});
