import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { GateResult } from '../../../src/suite/model.ts';
import { formatDuration, formatPercent, formatRate } from '../../../src/suite/report/numbers.ts';
import { renderTable } from '../../../src/suite/report/table.ts';
import { cut, oneLine, padEnd, padStart, textWidth } from '../../../src/suite/report/text-width.ts';
import { reportOf, stats } from './reports.ts';

const none = { count: 0, scored: 0, unscored: 0, passed: 0, pass_rate: null, mean: null };
const full = reportOf({
  status: 'error',
  cases: 1234,
  duration_ms: 61_500,
  evals: {
    exact: {
      ...{ count: 1234, scored: 1230, unscored: 4, passed: 617, pass_rate: 0.5, mean: 0.50123 },
      tags: { 漢字: stats, 'e\u0301a': none, 'two\nlines': stats },
    },
    b: { ...stats, tags: {} },
  },
  gates: [
    { eval: 'exact', metric: 'pass_rate', value: 0.5, min: 0.5, max: null, passed: true },
    { eval: 'exact', metric: 'mean', tag: 'large', value: 0.31, min: 0.5, max: 0.9, passed: false },
  ],
  failures: [
    { case: 'r1', file: 'rows.jsonl', line: 2, eval: 'exact', score: 0.25, detail: 'said 41\ninstead of 42' },
    { case: 'r7', file: 'rows.jsonl', line: 8, eval: 'exact', score: null, detail: 'timed out' },
    { case: 'r8', file: 'rows.jsonl', line: 9, eval: 'b', score: 0, detail: '' },
  ],
  failure_count: 617,
  problems: [{ file: 'rows.jsonl', line: 4, column: 1, message: 'the line is a list', hint: 'One object.' }],
  problem_count: 1,
});

const table = `gsm8k: error

eval         count  passed  pass rate   mean  unscored
exact         1234     617     50.00%  0.501         4
  漢字           4       2     50.00%  0.667         1
  e\u0301a             0       0          –      –         0
  two lines      4       2     50.00%  0.667         1
b                4       2     50.00%  0.667         1

✓ exact: pass_rate 0.5, wanted at least 0.5
✗ exact [large]: mean 0.31, but wanted at least 0.5 and at most 0.9

617 failures, the first 3:
  rows.jsonl:2  case r1, exact: score 0.25: said 41 instead of 42
  rows.jsonl:8  case r7, exact: unscored: timed out
  rows.jsonl:9  case r8, b: score 0

1 unusable row:
  rows.jsonl:4  the line is a list
      hint: One object.

1234 cases in 1 min 02 s (20 per second)
`;

test('a summary has the totals, the gates, what failed and the time', () => {
  expect(renderTable(full, false)).toBe(table);
});

test('colours change nothing but colours, and come only when asked for', () => {
  const coloured = renderTable(full, true);
  expect(coloured).toContain('\u001B[');
  expect(stripVTControlCharacters(coloured)).toBe(table);
});

test('a summary of a good run is short', () => {
  expect(renderTable(reportOf({}), false)).toBe(`gsm8k: passed

eval   count  passed  pass rate   mean  unscored
exact      4       2     50.00%  0.667         1

4 cases in 2.0 s (2.0 per second)
`);
});

test('nothing that a dataset holds reaches the terminal as a command', () => {
  const evil = '\u001B[2J\u0007x';
  const report = reportOf({
    suite: evil,
    evals: { [evil]: { ...stats, tags: { [evil]: stats } } },
    gates: [{ eval: evil, metric: 'mean', tag: evil, value: 1, min: 1, max: null, passed: true }],
    failures: [{ case: evil, file: evil, line: 1, eval: evil, score: 0, detail: evil }],
    failure_count: 1,
    problems: [{ file: evil, line: 1, column: 1, message: evil, hint: evil }],
    problem_count: 1,
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(renderTable(report, false)).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
});

const gates: { gate: Partial<GateResult>; text: string }[] = [
  { gate: { value: 0.49999, min: 0.5, passed: false }, text: '✗ e: mean 0.49999, but wanted at least 0.5' },
  { gate: { value: 0.1234567, min: 0.5, passed: false }, text: '✗ e: mean 0.1235, but wanted at least 0.5' },
  { gate: { value: 0.900001, max: 0.9, passed: false }, text: '✗ e: mean 0.900001, but wanted at most 0.9' },
  { gate: { value: null, min: 0.5, passed: false }, text: '✗ e: mean of nothing, wanted at least 0.5' },
  {
    gate: { value: 1, min: 0.5, max: 1, passed: true },
    text: '✓ e: mean 1, wanted at least 0.5 and at most 1',
  },
];

test.each(gates)('a gate says why: $text', ({ gate, text }) => {
  const whole = {
    eval: 'e',
    metric: 'mean',
    value: null,
    min: null,
    max: null,
    passed: true,
    ...gate,
  } as const;
  expect(renderTable(reportOf({ gates: [whole] }), false).split('\n')).toContain(text);
});

test.each([
  { share: 1, text: '100.00%' },
  { share: 0, text: '0.00%' },
  { share: 0.99999, text: '99.99%' },
  { share: 0.00001, text: '0.01%' },
  { share: 2 / 3, text: '66.67%' },
  { share: null, text: '–' },
])('the share $share reads $text', ({ share, text }) => {
  expect(formatPercent(share)).toBe(text);
});

test.each([
  { ms: 0, text: '0 ms' },
  { ms: 999, text: '999 ms' },
  { ms: 999.6, text: '1.0 s' },
  { ms: 12_345, text: '12.3 s' },
  { ms: 59_949, text: '59.9 s' },
  { ms: 59_999, text: '1 min 00 s' },
  { ms: 245_000, text: '4 min 05 s' },
  { ms: 3_599_900, text: '1 h 00 min' },
  { ms: 7_380_000, text: '2 h 03 min' },
])('$ms ms read $text', ({ ms, text }) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a rate has a decimal below ten', () => {
  expect([formatRate(5, 2000), formatRate(1000, 3000), formatRate(1, 0)]).toEqual(['2.5', '333', '0.0']);
});

test.each([
  { title: 'Latin letters', text: 'abc', width: 3 },
  { title: 'Chinese', text: '漢字', width: 4 },
  { title: 'Korean', text: '한글', width: 4 },
  { title: 'fullwidth forms', text: 'Ａ', width: 2 },
  { title: 'a combining accent', text: 'e\u0301', width: 1 },
  { title: 'an emoji', text: '😀', width: 2 },
  { title: 'a family of emoji', text: '👨‍👩‍👧', width: 2 },
  { title: 'a text symbol made an emoji', text: '❤️', width: 2 },
  { title: 'a zero-width joiner', text: 'a\u200Db', width: 2 },
  { title: 'a check mark', text: '✓', width: 1 },
])('$title: $text is $width columns wide', ({ text, width }) => {
  expect(textWidth(text)).toBe(width);
  expect(textWidth(padEnd(text, 12))).toBe(12);
  expect(textWidth(padStart(text, 12))).toBe(12);
});

test('a text is cut between characters, never beyond the columns it has', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdef', 5)).toBe('abcd…');
  expect(cut('漢字漢字', 6)).toBe('漢字…');
  expect(cut('漢字漢字', 5)).toBe('漢字…');
  expect(cut('abc', 0)).toBe('');
});

test('a text is put on one line', () => {
  expect(oneLine('a\r\n\tb\u001B[1m')).toBe('a b\\x1b[1m');
});
