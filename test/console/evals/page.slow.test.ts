import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { openRunFile } from '../../../src/suites/report/run-file.ts';
import { describeInBrowser, expectAccessible, looks } from '../tab.ts';
import { openFolder, openMatrix, openView } from './support.ts';

const idOf = (id: string) => id.slice(0, 8);

describeInBrowser((openTab) => {
  const openRun = async (file?: string) => {
    const { runtime, ids } = await openFolder();
    const view = await openView([runtime], file === undefined ? [] : [file]);
    const ratings = async () =>
      await Array.fromAsync((await runtime.evals.runs.open(ids[0])).ratings?.() ?? []);
    const open = async (path = '', options = {}) =>
      await openTab(view.origin, { path: `/evals${path}`, key: view.token, ...options });
    return { ...view, runtime, ids, ratings, open };
  };

  test('a person goes from the list to a case and rates it with the mouse; other pages show that [DS-VIEW-05]', async () => {
    const { ids, ratings, open } = await openRun();
    const { page, offences } = await open();
    await page.getByRole('link', { name: idOf(ids[0]) }).click();
    const other = await open(`/${ids[0]}?case=one`);
    await page.locator('[data-case="1"]').click();
    await page.getByText('Your rating').click();
    await page.getByText('You rate as ada.').waitFor();
    await page.getByLabel('What').selectOption('exact');
    await page.getByLabel('Score, 0 to 1').fill('0.5');
    await page.getByLabel('Comment').fill('<img src=x onerror=alert(1)> j k /');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Kept.').waitFor();
    const list = page.getByRole('region', { name: 'Ratings' });
    expect(await list.innerText()).toMatch(
      /ada[\s\S]*score 0\.5[\s\S]*exact[\s\S]*<img src=x onerror=alert\(1\)> j k \//,
    );
    const comment = '<img src=x onerror=alert(1)> j k /';
    expect(await ratings()).toMatchObject([{ case: 'one', eval: 'exact', by: 'ada', score: 0.5, comment }]);
    expect(await other.page.getByRole('region', { name: 'Ratings' }).count()).toBe(0);
    await other.page.reload();
    await other.page.getByRole('region', { name: 'Ratings' }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Removed.').waitFor();
    expect([await list.count(), await ratings()]).toEqual([0, []]);
    await page.getByRole('link', { name: '‹ Evals' }).click();
    await page.getByRole('button', { name: 'Compare A with B' }).click();
    await page.getByRole('heading', { name: 'Evals compared' }).waitFor();
    expect([...offences, ...other.offences]).toEqual([]);
  });

  test('the same works with the keyboard alone', async () => {
    const { runtime, ids, ratings, open } = await openRun();
    const { page, offences } = await open();
    const link = page.getByRole('link', { name: idOf(ids[0]) });
    await link.focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-case="1"]').waitFor();
    for (const key of ['j', 'Enter']) await page.keyboard.press(key);
    expect(await page.locator('#case-title').textContent()).toBe('one');
    await page.getByText('Your rating').focus();
    await page.keyboard.press('Enter');
    await page.getByText('You rate as ada.').waitFor();
    for (const key of ['Tab', 'Tab', 'Tab']) await page.keyboard.press(key);
    await page.keyboard.type('odd');
    await page.keyboard.press('Enter');
    await page.getByText('Kept.').waitFor();
    expect(await ratings()).toMatchObject([{ case: 'one', eval: null, by: 'ada', label: 'odd' }]);
    await page.getByRole('link', { name: '‹ Evals' }).focus();
    await page.keyboard.press('Enter');
    const compare = page.getByRole('button', { name: 'Compare A with B' });
    await page.getByRole('radio', { name: `A: ${ids[1]}` }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('radio', { name: `B: ${ids[0]}` }).focus();
    await page.keyboard.press('Space');
    await compare.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Evals compared' }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Evals compared');
    expect(new URL(page.url()).search).toBe(`?a=${ids[1]}&b=${ids[0]}`);
    await page.goBack();
    await page.getByLabel('Suite').fill('none');
    await page.keyboard.press('Enter');
    await page.getByText('No run of the suite none is stored').waitFor();
    const [info] = await runtime.evals.runs.list();
    await page.goto(
      page.url().replace(/\/evals.*/, `/evals/suites/${encodeURIComponent(info?.suite ?? '')}`),
    );
    await page.getByRole('img', { name: 'Passed cases of 2 runs' }).waitFor();
    expect(offences).toEqual([]);
  });

  test('a list shows a run that another process stores, and keeps the chosen runs', async () => {
    const { runtime, ids, open } = await openRun();
    const { page } = await open();
    await page.getByRole('radio', { name: `B: ${ids[0]}` }).check();
    const { run_id: id } = await runtime.evals.run(`${runtime.file.replace(/[^/]*$/, '')}s.suite.yaml`);
    await page.getByRole('link', { name: idOf(id) }).waitFor();
    expect(await page.getByRole('radio', { name: `B: ${ids[0]}` }).isChecked()).toBe(true);
  });

  test('a list proposes two runs of one suite for a comparison', async () => {
    const { runtime, ids, open } = await openRun();
    const folder = runtime.file.replace(/[^/]*$/, '');
    const suite = readFileSync(`${folder}s.suite.yaml`, 'utf8');
    writeFileSync(`${folder}other.suite.yaml`, suite.replace(/\{name: .*\}/, '{name: other}'));
    const { run_id: id } = await runtime.evals.run(`${folder}other.suite.yaml`);
    const { page } = await open();
    await page.getByRole('link', { name: idOf(id) }).waitFor();
    const chosen = async (side: string) => await page.locator(`input[name=${side}]:checked`).inputValue();
    expect([await chosen('a'), await chosen('b')]).toEqual([ids[0], ids[1]]);
  });

  test('the form shows errors, such as an empty rating and a server that has ended', async () => {
    const { ids, open } = await openRun();
    const { page } = await open(`/${ids[0]}?case=one`);
    await page.getByText('Your rating').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the rating is empty').waitFor();
    await page.route('**/ratings', async (route) => await route.abort());
    await page.getByLabel('Label').fill('good');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The server does not answer').waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe('good');
  });

  test('a page whose lines break off says so and loads again; its cases stay', async () => {
    const { ids, open } = await openRun();
    const { page } = await open();
    const report = /\/report$/;
    await page.route(report, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(/row \[2[\s\S]*/, '') });
    });
    await page.getByRole('link', { name: idOf(ids[0]) }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('The cases below are not all.');
    expect(await page.locator('[data-case]').count()).toBe(1);
    await page.unroute(report);
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.locator('[data-case="2"]').waitFor();
    expect(await alert.count()).toBe(0);
  });

  test('details load when a case opens, when a search needs them, and for an export [DS-VIEW-07]', async () => {
    const { ids, open } = await openRun();
    const { page, offences } = await open(`/${ids[0]}?case=two`);
    await page.getByText('s.suite.yaml:').first().waitFor();
    await page.getByRole('button', { name: 'Previous case' }).click();
    await page.getByRole('dialog', { name: 'one' }).getByText('onerror=alert(2)').first().waitFor();
    expect(await page.getByText('were left out').count()).toBe(0);
    await page.keyboard.press('Escape');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'JSON Lines' }).click(),
    ]);
    const exported = await Array.fromAsync((await openRunFile(await download.path())).cases());
    expect(exported.map(({ id, epochs: [first] }) => [id, first?.content])).toMatchObject([
      ['one', expect.stringContaining('onerror=alert(2)')],
      ['two', 'javascript:alert(1)'],
    ]);
    await page.reload();
    await page.getByRole('searchbox').fill('rare words');
    await page.getByText('2 cases', { exact: true }).waitFor();
    expect(offences).toEqual([]);
  });

  test('a reader without the role sees ratings and no form', async () => {
    const { ids, open } = await openRun();
    const { page } = await open();
    await page.route(/\/report$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('{"by":"ada"}', '{"by":null}') });
    });
    await page.goto(`${page.url()}/${ids[0]}?case=one`);
    await page.getByRole('dialog', { name: 'one' }).waitFor();
    expect(await page.getByText('Your rating').count()).toBe(0);
  });

  test('a page without the key says what to do, and shows nothing', async () => {
    const { origin, ids } = await openRun();
    const { page } = await openTab(origin, { path: `/evals/${ids[0]}`, key: null });
    await page.getByRole('alert').waitFor();
    expect(await page.locator('[data-case]').count()).toBe(0);
    expect(await page.getByRole('link', { name: '‹ Evals' }).count()).toBe(1);
  });

  test('a page of another port of this machine can neither rate nor read [DS-VIEW-03]', async () => {
    const { origin, token, ids, ratings, open } = await openRun();
    const sent: string[] = [];
    const evil = createServer((request, response) => {
      sent.push(`${request.url} ${JSON.stringify(request.headers)}`);
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>evil</title>');
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => void evil.close());
    const { page } = await open();
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    expect(await page.context().cookies()).toEqual([]);
    expect(sent.join()).not.toContain(token);
    const outcome = await page.evaluate(
      async ([target, id]) => {
        const tried = async (work: () => Promise<unknown>) => await work().catch(() => 'refused');
        const [path, body] = [`${target}/api/v1/evals/runs/${id}`, '{"case":"one","score":1}'];
        const headers = { 'content-type': 'application/json' };
        return [
          await tried(async () => (await fetch(`${path}/report`, { credentials: 'include' })).text()),
          await tried(async () => await fetch(`${path}/ratings`, { method: 'POST', body, headers })),
          await tried(
            async () => (await fetch(`${path}/ratings`, { method: 'POST', body, mode: 'no-cors' })).type,
          ),
        ];
      },
      [origin, ids[0]] as const,
    );
    expect(outcome.slice(0, 2)).toEqual(['refused', 'refused']);
    expect(await ratings()).toEqual([]);
  });

  test('each variant of a case is rated in its column, and unsaved text is kept [DS-MATRIX-10] [DS-VIEW-05]', async () => {
    const matrix = await openMatrix();
    const { origin, token } = await openView([matrix.runtime]);
    const { page, offences } = await openTab(origin, { path: `/evals/${matrix.id}`, key: token });
    await page.locator('[data-case="1"]').click();
    const column = (at: number) => page.getByRole('row', { name: 'Ratings' }).getByRole('cell').nth(at);
    for (const [at, score] of [[0, '0.25'] as const, [1, '1'] as const]) {
      await column(at).getByText('Your rating').click();
      await column(at).getByLabel('Score, 0 to 1').fill(score);
    }
    await page.getByRole('button', { name: 'Only differences' }).click();
    for (const at of [0, 1]) {
      await column(at).getByRole('button', { name: 'Save' }).click();
      await column(at).getByText('Kept.').waitFor();
    }
    const sorted = async () =>
      (await matrix.ratings()).toSorted((a, b) => (a.variant ?? '').localeCompare(b.variant ?? ''));
    expect(await sorted()).toMatchObject([
      { case: 'one', variant: 'large', eval: null, by: 'ada', score: 1 },
      { case: 'one', variant: 'small', eval: null, by: 'ada', score: 0.25 },
    ]);
    await page.reload();
    expect(await page.getByRole('region', { name: 'Ratings of small' }).innerText()).toMatch(
      /ada\s+score 0\.25/,
    );
    await column(1).getByText('Your rating').click();
    expect(await column(1).getByLabel('Score, 0 to 1').inputValue()).toBe('1');
    await column(1).getByRole('button', { name: 'Remove' }).click();
    await column(1).getByText('Removed.').waitFor();
    expect(await matrix.ratings()).toMatchObject([{ variant: 'small' }]);
    await page.keyboard.press('Escape');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'JSON Lines' }).click(),
    ]);
    const exported = await openRunFile(await download.path());
    expect(await Array.fromAsync(exported.ratings?.() ?? [])).toEqual(await matrix.ratings());
    expect(offences).toEqual([]);
  });

  test.each(looks)(
    'every page is accessible, inert and no wider than the screen: $name',
    async ({ options }) => {
      const { runtime, ids, open } = await openRun();
      const [info] = await runtime.evals.runs.list();
      const compared = `/compare?a=${ids[0]}&b=${ids[1]}`;
      const pages: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
        ['', async (page) => await page.getByRole('link', { name: idOf(ids[0]) }).waitFor()],
        [compared, async (page) => await page.getByRole('heading', { name: 'Evals compared' }).waitFor()],
        [
          `/suites/${encodeURIComponent(info?.suite ?? '')}`,
          async (page) => await page.getByRole('img').first().waitFor(),
        ],
        [`/${ids[0]}`, async (page) => await page.locator('[data-case="1"]').waitFor()],
        [`/${ids[0]}?case=one`, async (page) => await page.getByText('Your rating').click()],
      ];
      for (const [path, ready] of pages) {
        const { page, offences } = await open(path, options);
        await ready(page);
        await expectAccessible(page);
        const wide = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
        expect([path, wide, offences]).toEqual([path, 0, []]);
        await page.close();
      }
    },
  );
});
