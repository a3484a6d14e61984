import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeInvisibleLine as oneLine } from '../../../../src/base/text/escape-invisible.ts';
import { cut, padEnd, padStart, textWidth } from '../../../../src/base/text/width.ts';
import type { GateResult } from '../../../../src/suites/record.ts';
import { reporters } from '../../../../src/suites/report/delivery.ts';
import { drawHistogram } from '../../../../src/suites/report/document.ts';
import { renderMarkdown } from '../../../../src/suites/report/markdown.ts';
import { formatDuration, formatPercent, formatRate } from '../../../../src/suites/report/numbers.ts';
import { renderMatrix, renderTable } from '../../../../src/suites/report/terminal/table.ts';
import { evalStatsOf, newTextSink, noStats, reporterOf, reportOf, stats } from '../reports.ts';

const many = { ...stats, count: 1234, scored: 1230, unscored: 4, passed: 617, mean: 0.50123, flaky: 3 };
const classification = {
  ...{ true_positives: 3, false_positives: 1, true_negatives: 4, false_negatives: 2 },
  ...{ precision: 0.75, recall: 0.6, f1: 0.667, f2: 0.625, accuracy: 0.7, auc: 0.81 },
  latency_ms: { filter: { p50: 3, p99: 50 } },
};
const full = reportOf({
  status: 'error',
  cases: 1234,
  epochs: 3,
  bailed: true,
  duration_ms: 61_500,
  overall: { ...many, tags: {} },
  evals: {
    exact: evalStatsOf({
      ...many,
      tags: { 漢字: stats, 'e\u0301a': noStats, 'two\nlines': stats },
      pass_at: { 1: 0.5, 2: 0.75, 3: 0.875 },
      pass_hat: { 1: 0.5, 2: 0.25, 3: 0.125 },
    }),
    pii: evalStatsOf({ classification, latency_ms: null }),
  },
  gates: [
    { eval: 'exact', metric: 'pass_rate', value: 0.5, min: 0.5, max: null, passed: true },
    { eval: 'exact', metric: 'mean', tag: 'large', value: 0.31, min: 0.5, max: 0.9, passed: false },
    { metric: 'pass_rate', value: 0.5, min: 0.5, max: null, passed: true },
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

eval         count  passed  pass rate   mean  stderr       95 %  median    p10  unscored  flaky    p50    p99      spread
exact         1234     617     50.00%  0.501  ±0.250  0.10–1.00   1.000  0.000         4      3  12 ms  1.3 s  ▅▁▁▁▁▁▁▁▁█
  漢字           4       2     50.00%  0.667  ±0.250  0.10–1.00   1.000  0.000         1      0
  e\u0301a             0       0          –      –       –          –       –      –         0      0
  two lines      4       2     50.00%  0.667  ±0.250  0.10–1.00   1.000  0.000         1      0
pii              4       2     50.00%  0.667  ±0.250  0.10–1.00   1.000  0.000         1      0                ▅▁▁▁▁▁▁▁▁█
all cases     1234     617     50.00%  0.501  ±0.250  0.10–1.00   1.000  0.000         4      3

guard  precision  recall     F1     F2    AUC  caught  missed  false alarms
pii        0.750   0.600  0.667  0.625  0.810       3       2             1

hook    guard   p50    p99
filter    pii  3 ms  50 ms

eval   pass@1  pass@2  pass@3  pass^1  pass^2  pass^3
exact   0.500   0.750   0.875   0.500   0.250   0.125

✓ exact: pass_rate 0.5, wanted at least 0.5
✗ exact [large]: mean 0.31, but wanted at least 0.5 and at most 0.9
✓ all cases: pass_rate 0.5, wanted at least 0.5

617 failures, the first 3:
  rows.jsonl:2  case r1, exact: score 0.25: said 41 instead of 42
  rows.jsonl:8  case r7, exact: unscored: timed out
  rows.jsonl:9  case r8, b: score 0

1 invalid row:
  rows.jsonl:4  the line is a list
      hint: One object.

The run ended early, because it reached the maximum number of failures.
1234 cases × 3 epochs in 1 min 02 s (20 per second), 5 abstentions
`;

test('a summary has the totals, the gates, the failures and the time', () => {
  expect(renderTable(full, false)).toBe(table);
});

test('queueing time is shown separately, where there was any', () => {
  const [waited, none] = [
    { p50: 312, p99: 900 },
    { p50: 0, p99: 0 },
  ];
  const titles = (queue_ms: typeof waited) =>
    renderTable(reportOf({ evals: { exact: evalStatsOf({ queue_ms }) } }), false).split('\n')[2];
  expect(titles(waited)).toMatch(/ p50 +p99 +queue +spread$/);
  expect(titles(none)).toMatch(/ p50 +p99 +spread$/);
});

test('a terminal of zero columns keeps names and failures', () => {
  const lines = renderTable(full, false, 0).split('\n');
  expect(lines.slice(0, 4)).toEqual(['gsm8k: error', '', 'eval', 'exact']);
  expect(lines).toContain('  rows.jsonl:2  cas…');
});

test('without labelled events there is no table of guards, but one of hooks', () => {
  const none = { true_positives: 0, false_positives: 0, true_negatives: 0, false_negatives: 0 };
  const guard = { classification: { ...classification, ...none }, latency_ms: null };
  const report = reportOf({ evals: { pii: evalStatsOf(guard) } });
  expect(renderTable(report, false)).not.toMatch(/^guard /m);
  expect(renderTable(report, false)).toMatch(/^hook /m);
  expect(renderMarkdown(report)).not.toContain('| guard |');
});

test('a shadow neither passes nor fails, and takes no time', () => {
  const text = renderTable({ ...reportOf({}), kind: 'shadow', status: 'running', duration_ms: null }, false);
  expect(text.split('\n')[0]).toBe('gsm8k: 4 events');
  expect(text).not.toMatch(/ in | per second|passed:|running/);
});

test('an interrupted run says so, and shows no time', () => {
  const text = renderTable({ ...reportOf({}), status: 'interrupted', duration_ms: null }, false);
  expect(text.split('\n')[0]).toBe('gsm8k: interrupted');
  expect(text.trimEnd().split('\n').at(-1)).toBe('4 cases, 1 abstention');
});

test('a reason that makes the run void is no row', () => {
  const whole = {
    scope: 'run',
    file: 'rows.jsonl',
    line: 1,
    column: 1,
    message: 'the dataset is empty',
  } as const;
  const row = { file: 'rows.jsonl', line: 4, column: 1, message: 'the line is a list' };
  const text = renderTable(reportOf({ status: 'error', problems: [whole, row], problem_count: 2 }), false);
  expect(text).toContain(`
The run is invalid:
  rows.jsonl:1  the dataset is empty
1 invalid row:
  rows.jsonl:4  the line is a list
`);
});

test('colours change only colours, and appear only on request', () => {
  const coloured = renderTable(full, true);
  expect(coloured).toContain('\u001B[');
  expect(stripVTControlCharacters(coloured)).toBe(table);
});

test('the reporter writes once, at the end, as its sink requires', async () => {
  const sink = newTextSink({ hasColour: true, columns: 60 });
  await (await reporterOf(reporters.table.open)(sink)).end(full);
  expect(sink.parts).toEqual([renderTable(full, true, 60)]);
});

test('a summary of a good run is short', () => {
  expect(renderTable(reportOf({}), false, 84)).toBe(`gsm8k: passed

eval       count  passed  pass rate   mean  stderr       95 %  unscored      spread
exact          4       2     50.00%  0.667  ±0.250  0.10–1.00         1  ▅▁▁▁▁▁▁▁▁█
all cases      4       2     50.00%  0.667  ±0.250  0.10–1.00         1

4 cases in 2.0 s (2.0 per second), 1 abstention
`);
});

test.each([
  { columns: 200, titles: 'eval count passed pass rate mean stderr 95 % median p10 unscored p50 p99 spread' },
  { columns: 84, titles: 'eval count passed pass rate mean stderr 95 % unscored spread' },
  { columns: 70, titles: 'eval count passed pass rate mean stderr unscored' },
  { columns: 40, titles: 'eval passed pass rate mean' },
  { columns: 24, titles: 'eval pass rate' },
  { columns: 20, titles: 'eval pass rate' },
  { columns: 12, titles: 'eval pass rate' },
  { columns: 0, titles: 'eval pass rate' },
])('$columns columns show: $titles', ({ columns, titles }) => {
  const line = renderTable(reportOf({}), false, columns).split('\n')[2];
  expect(line?.replaceAll(/ {2,}/g, ' ')).toBe(titles);
});

test.each([
  { counts: [0, 0, 0], bars: '' },
  { counts: [1, 0, 1000], bars: '▂▁█' },
  { counts: [1, 2, 4, 8], bars: '▂▃▅█' },
])('$counts are drawn as $bars', ({ counts, bars }) => {
  expect(drawHistogram(counts)).toBe(bars);
});

test('dataset text cannot control the terminal', () => {
  const evil = '\u001B[2J\u0007x\u202E\u200B';
  const report = reportOf({
    suite: evil,
    evals: {
      [evil]: evalStatsOf({
        classification: { ...classification, latency_ms: { [evil]: { p50: 1, p99: 1 } } },
        tags: { [evil]: stats },
      }),
    },
    gates: [{ eval: evil, metric: 'mean', tag: evil, value: 1, min: 1, max: null, passed: true }],
    failures: [{ case: evil, file: evil, line: 1, eval: evil, score: 0, detail: evil }],
    failure_count: 1,
    problems: [{ file: evil, line: 1, column: 1, message: evil, hint: evil }],
    problem_count: 1,
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(renderTable(report, false)).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E\u200B]/);
});

const gates: { gate: Partial<GateResult>; text: string }[] = [
  { gate: { value: 0.49999, min: 0.5, passed: false }, text: '✗ e: mean 0.49999, but wanted at least 0.5' },
  { gate: { value: 0.1234567, min: 0.5, passed: false }, text: '✗ e: mean 0.1235, but wanted at least 0.5' },
  { gate: { value: 0.900001, max: 0.9, passed: false }, text: '✗ e: mean 0.900001, but wanted at most 0.9' },
  { gate: { value: null, min: 0.5, passed: false }, text: '✗ e: mean no data, wanted at least 0.5' },
  {
    gate: { value: 1, min: 0.5, max: 1, passed: true },
    text: '✓ e: mean 1, wanted at least 0.5 and at most 1',
  },
];

test.each(gates)('a gate shows its reason: $text', ({ gate, text }) => {
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
])('the share $share is shown as $text', ({ share, text }) => {
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
])('$ms ms is shown as $text', ({ ms, text }) => {
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

test('a text is cut between characters, never beyond its columns', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdef', 5)).toBe('abcd…');
  expect(cut('漢字漢字', 6)).toBe('漢字…');
  expect(cut('漢字漢字', 5)).toBe('漢字…');
  expect(cut('abc', 0)).toBe('');
  expect(cut('a漢b', 3)).toBe('a…');
  expect(cut('e\u0301e\u0301', 2)).toBe('e\u0301e\u0301');
});

test('a text is put on one line', () => {
  expect(oneLine('a\r\n\tb\u001B[1m')).toBe('a b\\u001b[1m');
});

test('two variants never share a heading, whatever the start of their names', () => {
  const part = fc.stringMatching(/^[a-z]{1,12}$/);
  const names = fc
    .tuple(fc.array(part, { maxLength: 6 }), fc.uniqueArray(part, { minLength: 2, maxLength: 5 }))
    .map(([same, ends]) => ends.map((end) => [...same, end].join('-')));
  fc.assert(
    fc.property(names, (all) => {
      const variants = all.map((name) => ({
        ...{ name, status: 'passed' as const, cases: 1, problem_count: 0 },
        ...{ overall: { ...stats, tags: {} }, evals: { exact: evalStatsOf({}) } },
      }));
      const lines =
        renderMatrix(reportOf({ variants, comparisons: [] }), {
          paint: (_, text) => text,
          columns: Number.POSITIVE_INFINITY,
        })[0] ?? [];
      const heads = (lines[0] ?? '').match(/\S+(?: \S+)*? ✓/g) ?? [];
      expect(new Set(heads).size).toBe(all.length);
    }),
  );
});
