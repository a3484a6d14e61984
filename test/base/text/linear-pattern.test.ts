import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileLinear, compileLinearFromJs } from '../../../src/base/text/linear-pattern.ts';
import { estimateCost } from '../../../src/base/text/pattern-cost.ts';
import {
  compileExclusivePattern,
  compileInclusivePattern,
  compileSafe,
} from '../../../src/base/text/safe-pattern.ts';

const atoms = String.raw`a|b|\d|\w|\s|\S|\W|\D|.|[a-c]|[^a]|[\s-]|\b|^|$|\n|\v|\u2028|\u{1F600}|\p{L}|\p{Lu}|\/|\-|[\w.-]|(?:ab)|(a)|[[]|[&&]|x{2}|\.|[\b]|[^\d\s]|😀|é|[à-ü]|(?<n>a)|[(?:a)]|{|a]`;
const quantifiers = ['', '', '', '*', '+', '?', '{1,3}', '{2}', '*?', '+?', '{0,2}?', '{2,}'];
const letters = [
  'a',
  'b',
  'c',
  '1',
  ' ',
  '\n',
  '\u2028',
  '\u00a0',
  '😀',
  'é',
  'A',
  '_',
  '-',
  '.',
  '/',
  '[',
  'x',
];
const part = fc.tuple(fc.constantFrom(...atoms.split('|')), fc.constantFrom(...quantifiers));

test('a converted pattern finds what JavaScript finds', () => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', 'u', 'su'),
      fc.array(fc.constantFrom(...letters), { maxLength: 6 }),
      (parts, flags, characters) => {
        const source = parts.flat().join('');
        const text = characters.join('');
        const native = tryPattern(source, flags);
        const carried = native && compileLinearFromJs(source, flags);
        const isAlike = flags.includes('u') || !/[\ud800-\udfff]/.test(text);
        if (native === undefined || carried === undefined || !isAlike) return;
        expect({ source, flags, text, found: carried.test(text) }).toEqual({
          source,
          flags,
          text,
          found: native.test(text),
        });
      },
    ),
    { numRuns: 5000 },
  );
});

function tryPattern(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

test.each([
  '(?=a)',
  '(?!a)',
  '(?<=a)b',
  '(a)\\1',
  '[^]',
  '\\cA',
  '\\B',
  '\\p{Script=Greek}',
  '[\\S]',
  'a{2000}',
])('a pattern that only JavaScript supports is not converted: %s', (source) => {
  expect(compileLinearFromJs(source, 'u')).toBeUndefined();
});

test.each([
  ['^(a+)+$', `${'a'.repeat(60_000)}!`, false],
  ['^(\\w+\\s?)*$', `${'a '.repeat(30_000)}!`, false],
  ['(a|aa)+$', `${'a'.repeat(60_000)}!`, false],
  ['(x+x+)+y', 'x'.repeat(60_000), false],
  ['^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', `${'a@'.repeat(30_000)}`, false],
  ['(\\d+)-(\\d+)', `${'1'.repeat(60_000)}-2`, true],
])('the pattern %s has an answer on a text that would keep JavaScript busy', (source, text, found) => {
  expect(compileSafe(source, 'u').test(text)).toBe(found);
});

test('a pattern that only JavaScript can match is stopped after a second', () => {
  const hostile = ['^(?=(a+)+$)a', `${'a'.repeat(60)}!`] as const;
  expect(() => compileSafe(hostile[0], 'u').test(hostile[1])).toThrow(
    new RangeError('looking for a pattern took longer than 1 s'),
  );
  expect(compileInclusivePattern(hostile[0])?.test(hostile[1])).toBe(true);
  expect(compileExclusivePattern(hostile[0]).test(hostile[1])).toBe(false);
  expect(compileInclusivePattern('(')).toBeUndefined();
});

test.each([
  ['a group, on a phone number', '^(\\d{3})-(\\d{4})$', 8, true],
  ['three quantifiers from the start on, on an address', '^[^@]+@[^@]+\\.[^@]+$', 60, true],
  ['the same anywhere', '[^@]+@[^@]+\\.[^@]+$', 60, false],
  ['a repeated group, on next to nothing', '^(?:ab)*$', 2, false],
  ['a reference back', '(a)\\1', 2, false],
  ['many choices', 'a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?', 40, false],
])('the speed of %s is known in advance', (_title, source, length, quick) => {
  expect(estimateCost(source)(length)).toBe(quick);
});

test('a pattern that is invalid in RE2 is refused', () => {
  expect(() => compileLinear('(')).toThrow();
});
