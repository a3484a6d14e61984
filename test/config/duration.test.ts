import fc from 'fast-check';
import { expect, test } from 'vitest';
import { durationPattern, parseDuration } from '../../src/config/duration.ts';

const century = 36_500 * 86_400_000;

test.each([
  { text: '90s', milliseconds: 90_000 },
  { text: '2m', milliseconds: 120_000 },
  { text: '1m30s', milliseconds: 90_000 },
  { text: '1h1m1s1ms', milliseconds: 3_661_001 },
  { text: '24h', milliseconds: 86_400_000 },
  { text: '7d', milliseconds: 604_800_000 },
  { text: '1.5h', milliseconds: 5_400_000 },
  { text: '.5s', milliseconds: 500 },
  { text: '1.s', milliseconds: 1000 },
  { text: '+2m', milliseconds: 120_000 },
  { text: '250ms', milliseconds: 250 },
  { text: '1500us', milliseconds: 2 },
  { text: '1500µs', milliseconds: 2 },
  { text: '1ns', milliseconds: 1 },
  { text: '1m1m', milliseconds: 120_000 },
  { text: '99999999h', milliseconds: century },
])('$text is $milliseconds ms', ({ text, milliseconds }) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each([
  '',
  ' ',
  '0',
  '0s',
  '0h0m',
  '-1s',
  '90',
  's',
  '5 s',
  '5S',
  '1y',
  '1e3s',
  '1m30',
  'soon',
  '1s ',
  '５s',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('any text is a duration exactly if it fits the schema’s pattern', () => {
  const piece = fc.constantFrom('1', '0', '.', '90', 's', 'm', 'ms', 'h', 'd', 'µs', ' ', '-', '+', 'x');
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (any) => {
      const milliseconds = parseDuration(any);
      const fits = new RegExp(durationPattern, 'u').test(any);
      expect(milliseconds !== undefined).toBe(fits);
      expect(fits ? Number.isInteger(milliseconds) && Number(milliseconds) >= 1 : true).toBe(true);
    }),
  );
});
