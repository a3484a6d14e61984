import type { Browser } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openRunFile } from '../../../src/suites/report/run-file.ts';
import { launchBrowser, noBrowser } from '../../browser.ts';
import { openMatrix, openView } from './support.ts';

const title = noBrowser === undefined ? 'in a browser' : `in a browser, skipped: ${noBrowser}`;

describe.skipIf(noBrowser !== undefined)(title, () => {
  let browser: Browser | undefined;
  afterAll(() => browser?.close());

  async function openCase(width: number) {
    const matrix = await openMatrix();
    const { origin, first } = await openView([matrix.runtime]);
    browser ??= await launchBrowser();
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const offences: string[] = [];
    page.on('pageerror', (error) => offences.push(error.message));
    page.on('console', (message) => {
      // The page that a browser gets without a token.
      if (!message.text().includes('status of 403')) offences.push(message.text());
    });
    await page.goto(first);
    const home = new URL(first).pathname;
    await page.waitForURL(`${origin}${home}`);
    await page.getByRole('link', { name: matrix.id.slice(0, 8) }).click();
    await page.locator('[data-case="1"]').click();
    const column = (at: number) => page.getByRole('row', { name: 'Ratings' }).getByRole('cell').nth(at);
    return { ...matrix, page, offences, column };
  }

  test('each variant of a case is rated in its column, and unsaved text is kept [DS-MATRIX-10] [DS-VIEW-05]', async () => {
    const { page, offences, column, ratings } = await openCase(1400);
    for (const [at, score] of [[0, '0.25'] as const, [1, '1'] as const]) {
      await column(at).getByText('Your rating').click();
      await column(at).getByLabel('Name').fill('mara');
      await column(at).getByLabel('Score, 0 to 1').fill(score);
    }
    await page.getByRole('button', { name: 'Only differences' }).click();
    for (const at of [0, 1]) {
      await column(at).getByRole('button', { name: 'Save' }).click();
      await column(at).getByText('Kept.').waitFor();
    }
    const kept = [
      { case: 'one', variant: 'large', eval: null, by: 'mara', score: 1 },
      { case: 'one', variant: 'small', eval: null, by: 'mara', score: 0.25 },
    ];
    const sorted = (await ratings()).toSorted((a, b) => (a.variant ?? '').localeCompare(b.variant ?? ''));
    expect(sorted).toMatchObject(kept);
    await page.reload();
    const shown = page.getByRole('region', { name: 'Ratings of small' });
    expect(await shown.innerText()).toMatch(/mara\s+score 0\.25/);
    await column(1).getByText('Your rating').click();
    expect(await column(1).getByLabel('Score, 0 to 1').inputValue()).toBe('1');
    await column(1).getByRole('button', { name: 'Remove' }).click();
    await column(1).getByText('Removed.').waitFor();
    expect(await ratings()).toMatchObject([{ variant: 'small' }]);
    await page.keyboard.press('Escape');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'JSON Lines' }).click(),
    ]);
    const exported = await openRunFile(await download.path());
    expect(await Array.fromAsync(exported.ratings?.() ?? [])).toEqual(await ratings());
    expect(offences).toEqual([]);
  });

  test('a name that was entered in one column is filled into the next', async () => {
    const { column } = await openCase(800);
    await column(0).getByText('Your rating').click();
    await column(0).getByLabel('Name').fill('mara');
    await column(0).getByLabel('Label').fill('odd');
    await column(0).getByRole('button', { name: 'Save' }).click();
    await column(0).getByText('Kept.').waitFor();
    await column(1).getByText('Your rating').click();
    expect(await column(1).getByLabel('Name').inputValue()).toBe('mara');
    const inner = await column(0).evaluate((cell) => [cell.scrollWidth, cell.clientWidth]);
    expect(inner[0]).toBeLessThanOrEqual(inner[1] ?? 0);
  });
});
