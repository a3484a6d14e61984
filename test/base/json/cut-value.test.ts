import { expect, test } from 'vitest';
import { cutValue } from '../../../src/base/json/cut-value.ts';

const limits = { characters: 5, items: 2 };

test.each([
  { title: 'a short value', value: { a: 'short', b: [1, 2] }, cut: { a: 'short', b: [1, 2] }, cuts: [] },
  {
    title: 'a long text',
    value: { a: { b: 'longer text' } },
    cut: { a: { b: 'longe' } },
    cuts: [{ path: 'a.b', unit: 'characters', kept: 5, length: 11 }],
  },
  {
    title: 'a long list',
    value: { a: [{ t: 'too long' }, 2, 3] },
    cut: { a: [{ t: 'too l' }, 2] },
    cuts: [
      { path: 'a', unit: 'items', kept: 2, length: 3 },
      { path: 'a[0].t', unit: 'characters', kept: 5, length: 8 },
    ],
  },
  {
    title: 'many members',
    value: { a: 1, b: 2, c: 3 },
    cut: { a: 1, b: 2 },
    cuts: [{ path: '', unit: 'members', kept: 2, length: 3 }],
  },
  {
    title: 'a pair of surrogates at the end',
    value: 'abcd😀',
    cut: 'abcd',
    cuts: [{ path: '', unit: 'characters', kept: 4, length: 6 }],
  },
  {
    title: 'a number of many digits',
    value: { n: JSON.rawJSON('12345678901234567890') },
    cut: { n: JSON.rawJSON('12345678901234567890') },
    cuts: [],
  },
])('$title is cut to the limits, with a report', ({ value, cut, cuts }) => {
  expect(cutValue<unknown>(value, limits)).toEqual({ value: cut, cuts });
});

test('an uncut value is the same one, and a name of every object stays a name', () => {
  const value = JSON.parse('{"__proto__": {"a": ["b"]}, "c": null}');
  expect(cutValue(value, limits).value).toBe(value);
  const cut = cutValue(JSON.parse('{"__proto__": "longer text"}'), limits).value;
  expect([Object.keys(cut), Object.getPrototypeOf(cut)]).toEqual([['__proto__'], Object.prototype]);
});

test('a very deeply nested value is unchanged', () => {
  let deep: unknown = 'longer text';
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
  expect(cutValue(deep, limits)).toEqual({ value: deep, cuts: [] });
});
