import { expect, test } from 'vitest';
import { newSeenKeys } from '../../../src/suites/select/repeated-ids.ts';

test('each key is new once, whatever its length', () => {
  const seen = newSeenKeys();
  const keys = ['', 'a', 'b', 'ab', 'ba', 'a'.repeat(10_000), '\ud800', '1', '11'];
  expect(keys.map((key) => seen.add(key))).toEqual(keys.map(() => true));
  expect(keys.map((key) => seen.add(key))).toEqual(keys.map(() => false));
  expect(seen.size()).toBe(keys.length);
});

test.each([
  { title: 'numbers', key: (index: number) => String(index) },
  { title: 'names that differ at their end', key: (index: number) => `a name of the usual length ${index}` },
  {
    title: 'names that differ at their start',
    key: (index: number) => `${index} is a name of the usual length`,
  },
])('no two of 300,000 $title are taken for one', ({ key }) => {
  const seen = newSeenKeys();
  for (let index = 0; index < 300_000; index++) seen.add(key(index));
  expect(seen.size()).toBe(300_000);
  expect(seen.add(key(123_456))).toBe(false);
});
