import { expect, test } from 'vitest';
import { readArguments } from '../../bench/run/arguments.ts';
import { median, spreadOf } from '../../bench/run/statistics.ts';
import { cellOf, renderLine, renderMarkdown, replaceFigures } from '../../bench/run/table.ts';
import { lineAt } from './results.ts';

const machine = { class: 'linux x64, 2 cores', cpu: 'A', memory_gb: 8, kernel: '6.1', node: 'v24.1.0' };

test('a median is the middle, of an even number the mean of the middle two, of none no number', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([7])]).toEqual([2, 2.5, 7]);
  expect(median([])).toBeNaN();
  expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
});

test('a line shows each way with its spread, ratio and cost', () => {
  const text = renderLine(lineAt(0.5));
  expect(text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'server/64x100B: 64 in flight',
    ' bare 1,000 /s (900–1,100) 1.00 × (1.00–1.00) CPU 0.250 + 1.000 ms, 80 MB',
    ' ours 500 /s (450–550) 0.50 × (0.50–0.50) CPU 0.250 + 1.000 ms, 80 MB',
  ]);
});

test('a page gets the tables into its marked block, again and again, and keeps all else', () => {
  const page = 'Above.\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nBelow.\n';
  const tables = renderMarkdown({ machine, rounds: 5, lines: [lineAt(0.5)] });
  const once = replaceFigures(page, tables);
  expect(once.startsWith('Above.\n<!-- figures: begin -->\n\nlinux x64, 2 cores, A, 8 GB')).toBe(true);
  expect(once.endsWith('\n\n<!-- figures: end -->\nBelow.\n')).toBe(true);
  expect(once).toContain('| 64 in flight | bare | 1,000 /s (900–1,100) | 1 | 0.250 + 1.000 | 80 |');
  expect(replaceFigures(once, tables)).toBe(once);
});

test('a page without a block is not touched', () => {
  expect(() => replaceFigures('nothing', 'x')).toThrow('has no block');
});

test('a table of several numbers of cores has a cell for each way, in three rounds unless more are asked for', () => {
  const [bare, ours] = lineAt(0.5).ways;
  expect([bare && cellOf(bare, 0), ours && cellOf(ours, 1)]).toEqual([
    '1,000 (900–1,100)',
    '500 (450–550) **0.50** (0.50–0.50)',
  ]);
  const { cores, rounds } = readArguments(['--cores', '1,2,16']);
  expect([cores, rounds, readArguments(['--cores', '4', '--rounds', '7']).rounds]).toEqual([
    [1, 2, 16],
    3,
    7,
  ]);
  expect([readArguments([]).cores, readArguments([]).rounds]).toEqual([[], 5]);
  expect(() => readArguments(['--cores', '1,none'])).toThrow('--cores takes a number above 0, not "none"');
});
