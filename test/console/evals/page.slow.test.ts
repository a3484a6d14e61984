import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, noBrowser } from '../../browser.ts';
import { openFolder, openView } from './support.ts';

const title = noBrowser === undefined ? 'in a browser' : `in a browser, skipped: ${noBrowser}`;

describe.skipIf(noBrowser !== undefined)(title, () => {
  let browser: Browser | undefined;
  afterAll(() => browser?.close());

  async function newPage(): Promise<{ readonly page: Page; readonly offences: string[] }> {
    browser ??= await launchBrowser();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const offences: string[] = [];
    page.on('dialog', async (dialog) => {
      offences.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('pageerror', (error) => offences.push(`error: ${error.message}`));
    page.on('console', (message) => {
      // A browser reports the 403 page as a console error.
      if (!message.text().includes('status of 403')) offences.push(`console: ${message.text()}`);
    });
    return { page, offences };
  }

  test('a person opens the printed address, goes from the list to a case, and rates it; other pages show that [DS-VIEW-05]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, first } = await openView([runtime]);
    const { page, offences } = await newPage();
    await page.goto(first);
    await page.waitForURL(`${origin}/`);
    await page.getByRole('link', { name: ids[0].slice(0, 8) }).click();
    const other = await page.context().newPage();
    await other.goto(`${origin}/runs/${ids[0]}#case=1`);
    await page.locator('[data-case="1"]').click();
    await page.getByText('Your rating').click();
    await page.getByLabel('What').selectOption('exact');
    await page.getByLabel('Score, 0 to 1').fill('0.5');
    await page.getByLabel('Comment').fill('<img src=x onerror=alert(1)> j k /');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Kept.').waitFor();
    const list = page.getByRole('region', { name: 'Ratings' });
    expect(await list.innerText()).toMatch(
      /ada[\s\S]*score 0\.5[\s\S]*exact[\s\S]*<img src=x onerror=alert\(1\)> j k \//,
    );
    const { ratings } = await runtime.evals.runs.open(ids[0]);
    const kept = {
      case: 'one',
      eval: 'exact',
      by: 'ada',
      score: 0.5,
      comment: '<img src=x onerror=alert(1)> j k /',
    };
    expect(await Array.fromAsync(ratings?.() ?? [])).toMatchObject([kept]);
    expect(await other.getByRole('region', { name: 'Ratings' }).count()).toBe(0);
    await other.reload();
    await other.getByRole('region', { name: 'Ratings' }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Removed.').waitFor();
    expect(await list.count()).toBe(0);
    expect(await Array.fromAsync((await runtime.evals.runs.open(ids[0])).ratings?.() ?? [])).toEqual([]);
    await page.getByRole('link', { name: '‹ Runs' }).click();
    await page.getByRole('button', { name: 'Compare A with B' }).click();
    await page.getByRole('heading', { name: 'Evals compared' }).waitFor();
    expect(offences).toEqual([]);
  });

  test('the form shows errors, such as a score beyond 1 and a server that has ended', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, first } = await openView([runtime]);
    const { page } = await newPage();
    await page.goto(first);
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/runs/${ids[0]}#case=1`);
    await page.getByText('Your rating').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the rating is empty').waitFor();
    await page.route('**/ratings', async (route) => await route.abort());
    await page.getByLabel('Label').fill('good');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The server does not answer').waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe('good');
  });

  test('details that a page omits are loaded when the case is opened [DS-VIEW-07]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, first } = await openView([runtime]);
    const { page, offences } = await newPage();
    await page.goto(first);
    await page.waitForURL(`${origin}/`);
    await page.route(/\/runs\/[^/]*$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/^detail .*\n/gm, '');
      await route.fulfill({ response, body });
    });
    await page.goto(`${origin}/runs/${ids[0]}#case=2`);
    await page.getByText('s.suite.yaml:').first().waitFor();
    await page.getByRole('button', { name: 'Previous case' }).click();
    await page.getByRole('dialog', { name: 'one' }).getByText('onerror=alert(2)').first().waitFor();
    expect(await page.getByText('were left out').count()).toBe(0);
    expect(offences).toEqual([]);
  });

  test('a page of another port of this machine is sent no token, and can neither rate nor read [DS-VIEW-03]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, first } = await openView([runtime]);
    const sent: string[] = [];
    const evil = createServer((request, response) => {
      sent.push(`${request.url} ${JSON.stringify(request.headers)}`);
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>evil</title><iframe name=f></iframe>');
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => void evil.close());
    const { page } = await newPage();
    await page.goto(first);
    await page.waitForURL(`${origin}/`);
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    expect(await page.context().cookies()).toEqual([]);
    expect(sent.join()).not.toContain(new URL(first).hash.replace('#token=', ''));
    const outcome = await page.evaluate(
      async ([target, id]) => {
        const tried = async (work: () => Promise<unknown>) => await work().catch(() => 'refused');
        const body = JSON.stringify({ case: 'one', by: 'eve', score: 1 });
        const at = `${target}/runs/${id}/ratings`;
        return [
          await tried(async () => (await fetch(`${target}/runs/${id}`, { credentials: 'include' })).text()),
          await tried(
            async () =>
              await fetch(at, {
                method: 'POST',
                body,
                credentials: 'include',
                headers: { 'content-type': 'application/json' },
              }),
          ),
          await tried(
            async () =>
              (await fetch(at, { method: 'POST', body, mode: 'no-cors', credentials: 'include' })).type,
          ),
        ];
      },
      [origin, ids[0]] as const,
    );
    expect(outcome.slice(0, 2)).toEqual(['refused', 'refused']);
    const { ratings } = await runtime.evals.runs.open(ids[0]);
    expect(await Array.fromAsync(ratings?.() ?? [])).toEqual([]);
  });
});
