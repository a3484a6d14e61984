import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainlyNoJson } from '../../../src/process/server/json-rpc.ts';

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });

describe('a line that is plainly not JSON', () => {
  test('is rejected by every parser, whatever whitespace surrounds it', () => {
    fc.assert(
      fc.property(blanks, fc.json(), blanks, (before, text, after) => {
        expect(isPlainlyNoJson(Buffer.from(before + text + after))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(['', ' \t', 'ready', 'two', 'null.', '{x', '[1, 2', '"text', '12 done', '-', '+1', '\u{feff}1'])(
    'is detected without a parser: %j',
    (text) => {
      expect(isPlainlyNoJson(Buffer.from(text))).toBe(true);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    },
  );
});
