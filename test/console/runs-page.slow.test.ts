import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pipeline } from '../workspace.ts';
import { serve } from './serving.ts';
import { describeInBrowser } from './tab.ts';

const STEPS = 20_000;
const scores = pipeline(`
steps:
  - {id: checks, for_each: "\${input.items}", concurrency: 50, eval: contains, params: {patterns: [a]}, content: "a text \${item}"}
`);

describeInBrowser((openTab) => {
  test('a run of 20,000 steps is shown at once, and its steps load as they come into view', async () => {
    const { origin, token, runtime, folder } = await serve('', { 'scores.yaml': scores });
    const items = Array.from({ length: STEPS }, (_, at) => at);
    const { run_id, status } = await runtime.run(join(folder, 'scores.yaml'), { items });
    expect(status).toBe('completed');
    const { page, offences } = await openTab(origin, { key: token, path: '/runs' });
    await page.getByRole('link', { name: 'desk' }).waitFor();
    await page.addInitScript(`(function look() {
      if (document.querySelector('.steps .item') === null) requestAnimationFrame(look);
      else window.usable = performance.now();
    })()`);
    await page.goto(`${origin}/console/runs/${run_id}`);
    const shown = page.locator('.steps .item');
    await shown.nth(99).waitFor();
    const times = await page.evaluate(
      `({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, usable: window.usable })`,
    );
    const start = performance.now();
    while ((await shown.count()) < STEPS) {
      await page.keyboard.press('End');
      await page.waitForTimeout(20);
    }
    const all = performance.now() - start;
    await page.keyboard.press('k');
    const focused = performance.now();
    await page.keyboard.press('j');
    console.log('in ms:', { times, all, key: performance.now() - focused });
    expect(await page.locator('.steps summary > .place').last().textContent()).toBe('checks');
    await shown
      .nth(Math.floor(STEPS * 0.6))
      .locator('summary')
      .click();
    await page.locator('.work').waitFor();
    expect(await page.locator('.work').innerText()).toContain('a text');
    expect(offences).toEqual([]);
  });
});
