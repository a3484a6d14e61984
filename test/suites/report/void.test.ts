import { expect, test } from 'vitest';
import { reporters } from '../../../src/suites/report/delivery.ts';
import type { ReporterName } from '../../../src/suites/report/reporter.ts';
import { evalStatsOf, noStats, reportOf, written } from './reports.ts';

const report = reportOf({
  status: 'error',
  cases: 0,
  overall: { ...noStats, tags: {} },
  evals: { exact: evalStatsOf({ ...noStats, latency_ms: null }) },
  problems: [
    {
      ...{ scope: 'run', file: 'rows.jsonl', line: 1, column: 1 },
      ...{ message: 'none of its 7 rows was selected', hint: 'Rows are selected by tags.' },
    },
  ],
  problem_count: 1,
});

test.each<{ name: ReporterName; says: string | RegExp }>([
  { name: 'table', says: 'The run is invalid:\n  rows.jsonl:1  none of its 7 rows was selected\n' },
  { name: 'json', says: '"scope":"run"' },
  { name: 'jsonl', says: '"scope":"run"' },
  { name: 'junit', says: 'message="the run is invalid: none of its 7 rows was selected" type="run"' },
  {
    name: 'markdown',
    says: '**The run is invalid:**\n\n- `rows.jsonl:1` `none of its 7 rows was selected` – `Rows are selected by tags.`\n',
  },
  {
    name: 'github',
    says: '::error file=rows.jsonl,line=1,title=the run is invalid::none of its 7 rows was selected (Rows are selected by tags.)\n',
  },
  {
    name: 'sarif',
    says: 'the run is invalid: rows.jsonl:1: none of its 7 rows was selected (Rows are selected by tags.)',
  },
  { name: 'html', says: 'none of its 7 rows was selected' },
])('$name shows why a run is void', async ({ name, says }) => {
  expect(await written(reporters[name].open, { report })).toContain(says);
});

test('a void run has an error for CI servers, and is never empty', async () => {
  const text = await written(reporters.junit.open, { report });
  expect(text).toMatch(/<testsuites name="gsm8k" tests="1" failures="0" errors="1"/);
  expect(text).toContain('<testsuite name="run" tests="1" failures="0" errors="1"');
});
