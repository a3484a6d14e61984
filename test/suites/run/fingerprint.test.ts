import { expect, test } from 'vitest';
import { findChanges, fingerprintOf, isUnchanged } from '../../../src/suites/run/fingerprint.ts';

test('a fingerprint shows which of its parts differ, and that one is missing', () => {
  const before = fingerprintOf({ a: 1, b: ['x'], c: undefined });
  expect(before).not.toContain('x"');
  expect(findChanges(before, fingerprintOf({ a: 1, b: ['x'], c: null }))).toEqual([]);
  expect(findChanges(before, fingerprintOf({ a: 2, b: ['x'], c: 0 }))).toEqual(['a', 'c']);
  expect(findChanges(before, fingerprintOf({ a: 1, d: 1 }))).toEqual(['d', 'b']);
});

test('an option that one side lacks counts as not given', () => {
  const before = fingerprintOf({ a: 1 });
  expect(isUnchanged(before, fingerprintOf({ a: 1, '--new': undefined }))).toBe(true);
  expect(isUnchanged(before, fingerprintOf({ a: 1, '--new': 2 }))).toBe(false);
  expect(isUnchanged(before, fingerprintOf({ a: 2 }))).toBe(false);
});

test.each(['f00dbeef', '1234', ''])(
  'the fingerprint %j has no parts, so all of them differ',
  (fingerprint) => {
    expect(findChanges(fingerprint, fingerprintOf({ a: 1 }))).toEqual(['a']);
  },
);
