import { expect, test } from 'vitest';
import { matchesGlob } from '../../src/text/glob.ts';

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

test('a pattern of many stars over a long name takes no long time', () => {
  expect(matchesGlob('*a'.repeat(500), `${'a'.repeat(20_000)}b`)).toBe(false);
});
