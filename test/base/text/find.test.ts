import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLastText, findText, splitText } from '../../../src/base/text/find.ts';

const long = fc
  .array(fc.constantFrom('a'.repeat(20), `${'a'.repeat(19)}b`, 'b'), { maxLength: 6 })
  .map((parts) => parts.join(''));

// Long enough to bypass JavaScript's own search.
const padding = 'ac'.repeat(400_000);

test('a text is found where JavaScript finds it', () => {
  fc.assert(
    fc.property(long, long, fc.nat(100), (before, wanted, from) => {
      const text = `${before}${padding}${wanted}${before}`;
      expect({
        first: findText(text, wanted, from),
        last: findLastText(text, wanted),
        lastFrom: findLastText(text, wanted, from),
        parts: wanted === '' ? 0 : splitText(text, wanted).length,
      }).toEqual({
        first: text.indexOf(wanted, from),
        last: text.lastIndexOf(wanted),
        lastFrom: text.lastIndexOf(wanted, from),
        parts: wanted === '' ? 0 : text.split(wanted).length,
      });
    }),
    { numRuns: 30 },
  );
});

test('a text that almost matches everywhere is searched in one pass', () => {
  const half = 'a'.repeat(200_000);
  const text = 'a'.repeat(1_000_000);
  expect(findText(text, `${half}b${half}`)).toBe(-1);
  expect(findLastText(text, `b${half}`)).toBe(-1);
  expect(splitText(text, `${half}b${half}`)).toEqual([text]);
  expect(splitText(`1${half}b2${half}b3`, `${half}b`)).toEqual(['1', '2', '3']);
});
