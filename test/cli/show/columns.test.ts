import { expect, test } from 'vitest';
import { textWidth } from '../../../src/base/text/width.ts';
import { formatColumns } from '../../../src/cli/show/columns.ts';

const rows = [
  [
    'pending_3f2a9c0d1b7e4a56',
    'run_51c0d2a94be07f36',
    'refund',
    'open',
    '2026-03-02T09:14:00.000Z',
    'Refund 250 EUR?',
  ],
  [
    'pending_1',
    'run_2',
    '返金する',
    'approved',
    '2026-03-02T09:14:00.000Z',
    '返金してもよろしいですか。'.repeat(5),
  ],
];

test('in a pipe a row is one line, whatever its width, and wide characters count two columns', () => {
  const [first, second] = formatColumns(rows, undefined).split('\n');
  expect(first).toBe(
    'pending_3f2a9c0d1b7e4a56  run_51c0d2a94be07f36  refund    open      2026-03-02T09:14:00.000Z  Refund 250 EUR?',
  );
  expect(
    second?.startsWith('pending_1                 run_2                 返金する  approved  2026-'),
  ).toBe(true);
});

test('on a terminal of 80 columns long cells wrap, whole except for the last column', () => {
  expect(formatColumns(rows, 80).split('\n')).toEqual([
    'pending_3f2a9c0d1b7e4a56  run_51c0d2a94be07f36  refund    open',
    '    2026-03-02T09:14:00.000Z  Refund 250 EUR?',
    'pending_1                 run_2                 返金する  approved',
    `    2026-03-02T09:14:00.000Z  ${'返金してもよろしいですか。'.repeat(5).slice(0, 24)}…`,
  ]);
});

test.each([80, 60, 40, 24, 20])('no line is wider than %d columns', (width) => {
  const long = ['x'.repeat(200), 'e\u0301'.repeat(50), '漢'.repeat(60), '👩‍👩‍👧'.repeat(30), 'a\nb\tc'];
  const lines = formatColumns([long, ...rows], width).split('\n');
  expect(lines.filter((line) => textWidth(line) > width)).toEqual([]);
});

test('an empty table prints nothing', () => {
  expect([formatColumns([], 80), formatColumns([['']], 80)]).toEqual(['', '']);
});
