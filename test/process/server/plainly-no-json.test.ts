import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainlyNoJson } from '../../../src/process/server/json-rpc.ts';

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });

describe('a line that is plainly no JSON', () => {
  test('is none that a parser would read, whatever blanks are around it', () => {
    fc.assert(
      fc.property(blanks, fc.json(), blanks, (before, text, after) => {
        expect(isPlainlyNoJson(Buffer.from(before + text + after))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(['', ' \t', 'ready', 'two', 'null.', '{x', '[1, 2', '"text', '12 done', '-', '+1', '\u{feff}1'])(
    'is told without a parser: %j',
    (text) => {
      expect(isPlainlyNoJson(Buffer.from(text))).toBe(true);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    },
  );
});
