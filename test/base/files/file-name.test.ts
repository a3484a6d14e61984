import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toFileName } from '../../../src/base/files/paths.ts';

test.each(['run_3f2a', 's-1', '0'])('%s is its own file name', (name) => {
  expect(toFileName(name)).toBe(name);
});

test.each([
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a\\b',
  'A',
  'nul\0',
  'con.',
  '~',
  'é',
  '😀',
  '\ud800',
  'x'.repeat(5_000),
])('%j becomes one short name without a path', (name) => {
  expect(toFileName(name)).toMatch(/^[a-z0-9-]{0,40}~[0-9a-f]{32}$/);
});

test('different texts have different names, even on a case-insensitive file system', () => {
  const alike = [
    'a/b',
    'a_b',
    'a-b',
    'A/B',
    'a//b',
    'a b',
    '\u00e9',
    'e\u0301',
    'E\u0301',
    '\ud800',
    '\ud801',
    '\ufffd',
  ];
  const names = alike.map((text) => toFileName(text).normalize('NFD').toLowerCase());
  expect(new Set(names).size).toBe(alike.length);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      expect(toFileName(one) === toFileName(other)).toBe(one === other);
      expect(toFileName(toFileName(one)) === toFileName(one)).toBe(
        /^[a-z0-9]/.test(one) && toFileName(one) === one,
      );
    }),
  );
});
