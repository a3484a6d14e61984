import { expect, test } from 'vitest';
import { findChanges, fingerprintOf } from '../../../src/suite/run/fingerprint.ts';

test('a fingerprint tells which of its parts differ, and that one is missing', () => {
  const before = fingerprintOf({ a: 1, b: ['x'], c: undefined });
  expect(before).not.toContain('x"');
  expect(findChanges(before, fingerprintOf({ a: 1, b: ['x'], c: null }))).toEqual([]);
  expect(findChanges(before, fingerprintOf({ a: 2, b: ['x'], c: 0 }))).toEqual(['a', 'c']);
  expect(findChanges(before, fingerprintOf({ a: 1, d: 1 }))).toEqual(['d', 'b', 'c']);
});

test.each([
  ['an older one', 'f00dbeef'],
  ['one of digits alone', '1234'],
  ['none', ''],
])('%s does not tell', (_, fingerprint) => {
  expect(findChanges(fingerprint, fingerprintOf({ a: 1 }))).toBeUndefined();
});
