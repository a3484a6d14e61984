import { expect, test } from 'vitest';
import { formatNumber, toDecimal } from '../../src/json/decimal.ts';

test.each([
  { number: 0.1 + 0.2, text: '0.3' },
  { number: 0.00014000000000000001, text: '0.00014' },
  { number: 1 / 3, text: '0.3333' },
  { number: 0.99999, others: [0, 1], text: '0.99999' },
  { number: 1 - 1e-14, others: [1], text: '0.99999999999999' },
  { number: 0.30000000000000004, others: [0.3], text: '0.30000000000000004' },
  { number: 1234.56789, text: '1234.5679' },
  { number: 0, text: '0' },
  { number: 1, others: [1], text: '1' },
  { number: -0.25, text: '-0.25' },
])('$number beside $others is written as $text', ({ number, others = [], text }) => {
  expect(formatNumber(number, others)).toBe(text);
});

test('sums of money have the digits that people would have written', () => {
  expect([toDecimal(0.1 + 0.2), toDecimal((100 * 0.0007) / 500), toDecimal(0)]).toEqual([0.3, 0.00014, 0]);
});
