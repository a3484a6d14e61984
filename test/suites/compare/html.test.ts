import { expect, test } from 'vitest';
import type { Change, Comparison, Difference } from '../../../src/suites/compare/comparison.ts';
import { renderComparisonHtml } from '../../../src/suites/compare/render.ts';

const evil = '</td><script>alert(1)</script>"\u202e\u0000';

const side = {
  run_id: 'r',
  suite: evil,
  started_at: '2026-01-02T03:04:05.678Z',
  cases: 2,
  is_complete: true,
};
const at = { number: 1, file: evil, line: 1 };
const change: Change = {
  case: evil,
  a: { ...at, score: 1, detail: '' },
  b: { ...at, score: 0, detail: `${evil}${'x'.repeat(5000)}` },
};
const difference: Difference = {
  ...{ pairs: 2, only_in_a: 1, only_in_b: 0, regressions: 1, improvements: 0, flaky: 0, p_value: 1 },
  table: { both_passed: 1, only_a_passed: 1, only_b_passed: 0, neither_passed: 0 },
  pass_rate: { a: 1, b: 0.5 },
  unscored: { only_in_a: 0, only_in_b: 0, both: 0 },
  score: null,
  first_regressions: [change],
  first_improvements: [],
};
const comparison: Comparison = {
  ...{ a: side, b: side, cases: difference, evals_only_in_a: [evil], evals_only_in_b: [] },
  evals: [{ ...difference, eval_a: evil, eval_b: evil, role: 'assertion' }],
};

test('the page shows what changed, case by case, and what only one side has', () => {
  const page = renderComparisonHtml(comparison);
  expect(page).toContain('1 regression of');
  expect(page).toContain('score 1');
  expect(page).toContain(`and ${evil.length + 1000} more characters`);
  expect(page).toContain('only in A: 1 case');
  expect(page).toContain('100.00%</td><td data-title="B passed">50.00%');
});

test('foreign text stays text, and the page cannot run or load anything', () => {
  const page = renderComparisonHtml(comparison);
  expect(['<script', '\u202e', '\u0000'].filter((each) => page.includes(each))).toEqual([]);
  expect(page.match(/&lt;script/g)?.length).toBeGreaterThan(8);
  expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+';/);
  const tags = new Set(page.match(/<[a-z0-9]+/g));
  expect([...tags].filter((tag) => ['<script', '<img', '<a', '<iframe', '<form'].includes(tag))).toEqual([]);
});
