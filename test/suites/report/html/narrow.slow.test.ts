import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Comparison, Difference } from '../../../../src/suites/compare/comparison.ts';
import { renderComparisonHtml } from '../../../../src/suites/compare/render.ts';
import { launchBrowser, noBrowser } from '../../../browser.ts';

const id = '0c5e27df-3c1b-4c39-9ead-3067f74fe213';
const side = {
  run_id: id,
  suite: 'desk',
  started_at: '2026-11-27T19:29:56.262Z',
  cases: 24,
  is_complete: true,
};
const result = (score: number) => ({ number: 3, file: 'cases.jsonl', line: 3, score, detail: 'it says so' });
const change = {
  case: 'question-about-orders-that-came-late-003',
  question: 'What happens to an order that is returned late?',
  ...{ a: result(1), b: result(0) },
};
const difference: Difference = {
  ...{ pairs: 24, only_in_a: 0, only_in_b: 0, regressions: 1, improvements: 1, flaky: 0, p_value: 1 },
  table: { both_passed: 8, only_a_passed: 8, only_b_passed: 8, neither_passed: 0 },
  pass_rate: { a: 0.5, b: 0.5 },
  unscored: { only_in_a: 0, only_in_b: 0, both: 0 },
  score: null,
  ...{ first_regressions: [change], first_improvements: [change] },
};
const compared: Comparison = {
  ...{ a: side, b: side, cases: difference, evals_only_in_a: [], evals_only_in_b: [] },
  evals: [{ ...difference, eval_a: 'right', eval_b: 'right', role: 'assertion' }],
};

/** In the page: the excess width, the number of texts in a column of one letter, and the number of rows. */
const look = `JSON.stringify({
  overflow: document.documentElement.scrollWidth - window.innerWidth,
  letters: [...document.querySelectorAll('th[scope="row"] bdi, td bdi')]
    .map((each) => each.getBoundingClientRect())
    .filter(({ width, height }) => width < 24 && height > 60).length,
  rows: document.querySelectorAll('th[scope="row"]').length,
})`;

describe.skipIf(noBrowser !== undefined)(
  `pages on a narrow and on a wide screen (${noBrowser ?? 'in a browser'})`,
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.close());

    test.each([390, 1280])('a comparison fits %i pixels, and breaks no id into letters', async (width) => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      try {
        await page.setContent(renderComparisonHtml(compared));
        const found = JSON.parse(await page.evaluate(look));
        expect(found).toMatchObject({ overflow: 0, letters: 0 });
        expect(found.rows).toBeGreaterThan(1);
      } finally {
        await page.close();
      }
    });

    test('a comparison has questions, improvements, and two named p', () => {
      const html = renderComparisonHtml(compared);
      for (const text of ['p of verdicts', 'p of scores', '1 improvement of right', change.question])
        expect(html).toContain(text);
      expect(html).not.toMatch(/<details(?![^>]* open)/);
    });
  },
);
