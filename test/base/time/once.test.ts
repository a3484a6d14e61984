import { expect, test } from 'vitest';
import { once } from '../../../src/base/time/async.ts';

test('simultaneous first uses share one creation, and later ones its result', async () => {
  let count = 0;
  const made = once(async () => {
    count += 1;
    return { add: async (one: number, other: number) => one + other };
  });
  const add = made.method((value) => value.add);

  expect(await made.opened()).toBeUndefined();
  expect(count).toBe(0);
  expect(await Promise.all([add(1, 2), add(3, 4)])).toEqual([3, 7]);
  expect(await made.opened()).toBe(await made.open());
  expect(count).toBe(1);
});

test('a failure is not cached', async () => {
  const answers = [Promise.reject(new Error('no disk')), Promise.resolve('a store')];
  const made = once(async () => await answers.shift());

  await expect(made.open()).rejects.toThrow('no disk');
  expect(await made.opened()).toBeUndefined();
  expect(await made.open()).toBe('a store');
});

test('a failed creation gives nothing to close', async () => {
  const made = once(async () => {
    throw new Error('no disk');
  });
  const opening = made.open();

  expect(await made.opened()).toBeUndefined();
  await expect(opening).rejects.toThrow('no disk');
});
