import { expect, test } from 'vitest';
import { explainVerdict } from '../../../src/suites/report/terminal/table.ts';
import { reportOf, stats } from './reports.ts';

const row = { file: 'rows.jsonl', line: 4, column: 1, message: 'the line is a list' };
const half = { ...stats, count: 4, passed: 2, tags: {} };

test('a passed run prints only its files', () => {
  expect(explainVerdict(reportOf({}), ['report.xml'])).toEqual(['written: report.xml']);
});

test('a failed run prints the number of cases, the missed gates, and where details are', () => {
  const gates = [
    { eval: 'exact', metric: 'pass_rate', value: 0.5, min: 0.6, max: null, passed: false },
    { metric: 'p10', value: 0.7, min: 0.5, max: null, passed: true },
  ];
  const report = reportOf({ status: 'failed', cases: 4, overall: half, gates, bailed: true });
  expect(explainVerdict(report, ['report.xml', 'a\u001b[31m.html'])).toEqual([
    'gsm8k: failed, 1 abstention, 1 of 2 gates missed, 2 of 4 cases did not pass',
    '  gate missed: exact: pass_rate 0.5, but wanted at least 0.6',
    '  The run ended early, because it reached the maximum number of failures.',
    'written: report.xml, a\\u001b[31m.html',
  ]);
});

test('a run whose budget is spent is void with the budget’s code', () => {
  const spent = {
    ...row,
    scope: 'run',
    code: 'BUDGET_EXCEEDED',
    line: 1,
    message: 'the budget is spent',
  } as const;
  const report = reportOf({ status: 'error', cases: 4, overall: half, problems: [spent], problem_count: 1 });
  expect(explainVerdict(report, [])).toContain(
    '  invalid run: [BUDGET_EXCEEDED] rows.jsonl:1 the budget is spent',
  );
});

test('a void run prints the reason, and the first of many invalid rows', () => {
  const empty = { ...row, scope: 'run', line: 1, message: 'it is empty', hint: 'Fill it.' } as const;
  const report = reportOf({
    status: 'error',
    cases: 4,
    overall: { ...half, passed: 4 },
    problems: [empty, row, row, row],
    problem_count: 9,
  });
  expect(explainVerdict(report, [])).toEqual([
    'gsm8k: error, the run is invalid, 8 invalid rows, 1 abstention',
    '  invalid run: [DATASET_INVALID] rows.jsonl:1 it is empty',
    '    hint: Fill it.',
    '  invalid row: [DATASET_INVALID] rows.jsonl:4 the line is a list',
    '  invalid row: [DATASET_INVALID] rows.jsonl:4 the line is a list',
    '  and 6 more invalid rows',
  ]);
});
