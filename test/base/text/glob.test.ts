import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesGlob, mayBothMatch } from '../../../src/base/text/glob.ts';

test.each([
  ['bash', 'bash', true],
  ['bash', 'Bash', false],
  ['fs_*', 'fs_write', true],
  ['fs_*', 'my_fs_write', false],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-b-b-c-', false],
  ['?s', 'fs', true],
  ['?s', 's', false],
  ['a.b', 'axb', false],
  ['[a]', 'a', false],
])('%s of %s: %s', (pattern, text, fits) => {
  expect(matchesGlob(pattern, text)).toBe(fits);
});

test('a pattern of many stars matches a long name quickly', () => {
  expect(matchesGlob('*a'.repeat(500), `${'a'.repeat(20_000)}b`)).toBe(false);
});

test.each([
  ['Bash', 'Bash', true],
  ['Bash', 'bash', false],
  ['mcp__*', 'mcp__prod__run', true],
  ['mcp__*__run', 'mcp__prod__*', true],
  ['a*', '*b', true],
  ['a*c', 'b*', false],
  ['?', '??', false],
  ['?x', 'a?', true],
  ['*', '', true],
  ['', 'a', false],
])('%s and %s may match the same text: %s', (one, other, may) => {
  expect([mayBothMatch(one, other), mayBothMatch(other, one)]).toEqual([may, may]);
});

test('whatever both patterns match, they may both match', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
  fc.assert(
    fc.property(pattern, pattern, text, (one, other, name) => {
      fc.pre(matchesGlob(one, name) && matchesGlob(other, name));
      expect(mayBothMatch(one, other)).toBe(true);
    }),
  );
});
