import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { fixture, pipeline } from '../workspace.ts';
import { keysOf, serve } from './serving.ts';
import { describeInBrowser, expectAccessible, looks } from './tab.ts';

const hostile = '<img src=x onerror=alert(1)>\u202etxt.exe\u200b</script>';
const marked = '<img src=x onerror=alert(1)>U+202Etxt.exeU+200B</script>';

const spec = `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config: {responses: [{text: ${JSON.stringify(hostile)}}]}
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  bank: {exec: {command: sh, args: [-c, 'cat > /dev/null; if test -e mended; then echo ''{"result": 1}''; else echo ''{"error": "no such order"}''; fi']}}
  refund: {approval: required, exec: {command: ${fixture('echo-args')}}}
`;

const waiting = `
steps:
  - {id: look, tool: echo, args: {amount: "\${input.amount}"}}
  - {id: talk, chat: {provider: main, messages: What now?}}
  - {id: pay, tool: refund, args: {amount: 7}}
`;
const failing = `
steps:
  - {id: look, tool: echo, args: {n: 1}}
  - {id: orders, for_each: [1, 2], tool: bank, args: {n: "\${item}"}}
`;

/** A console with a run that waits for a person, one that failed, and one that completed; the newest last. */
async function desk() {
  const served = await serve(spec, {
    'refund.yaml': pipeline(waiting, 'refund'),
    'orders.yaml': pipeline(failing, 'orders'),
    'hostile.yaml': pipeline(
      'steps: [{id: talk, chat: {provider: main, messages: "${input.text}"}}]',
      'talk',
    ),
  });
  const { runtime, folder } = served;
  const start = async (file: string, input: unknown, labels: Readonly<Record<string, string>> = {}) =>
    (await runtime.run(join(folder, file), input, { labels })).run_id;
  const waits = await start('refund.yaml', { amount: 120 }, { team: 'desk' });
  const failed = await start('orders.yaml', {}, { team: 'back' });
  const completed = await start('hostile.yaml', { text: hostile }, { note: '<b onclick=alert(1)>' });
  const mend = () => writeFileSync(join(folder, 'mended'), '');
  return { ...served, start, mend, waits, failed, completed };
}

const status = (page: Page) => page.locator('.run-head .pill');
const namesOf = async (page: Page) => await page.locator('table.runs tbody a').allInnerTexts();

describeInBrowser((openTab) => {
  test('a person filters runs, opens one, reads its steps, and cancels it with the mouse', async () => {
    const { origin, token, runtime, waits } = await desk();
    const { page, offences } = await openTab(origin, { key: token, path: '/runs' });
    await page.getByRole('link', { name: 'talk' }).waitFor();
    expect(await namesOf(page)).toEqual(['talk', 'orders', 'refund']);
    await page.getByLabel('Status').selectOption('pending');
    await expect.poll(() => namesOf(page)).toEqual(['refund']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Labels').fill('team=desk');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).search).toBe('?label=team%3Ddesk');
    await expect.poll(() => namesOf(page)).toEqual(['refund']);
    await page.locator('table.runs tbody td').first().click();
    await page.getByRole('heading', { name: 'refund' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/runs/${waits}`);
    await expect.poll(() => page.locator('.open-steps .item .place').allInnerTexts()).toEqual(['pay']);
    await expect
      .poll(() => page.locator('.steps:not(.open-steps) .item .place').allInnerTexts())
      .toEqual(['look', 'talk']);
    await page.locator('.item', { hasText: 'look' }).first().click();
    await page.locator('.work', { hasText: 'Result' }).waitFor();
    expect(await page.locator('.work').innerText()).toMatch(
      /Tool call echo ok[\s\S]*Arguments[\s\S]*amount\s+120/,
    );
    await page.getByRole('link', { name: 'refund' }).last().click();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this run?' });
    expect(await dialog.innerText()).toContain(waits);
    await dialog.getByLabel('Reason').fill('a mistake');
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await expect.poll(() => status(page).innerText()).toBe('Cancelled');
    expect(await page.locator('.fault').innerText()).toContain(`was cancelled by ada: a mistake`);
    expect(await page.getByRole('button', { name: /Cancel|Resume|Retry/ }).count()).toBe(0);
    expect((await runtime.runs.show(waits)).status).toBe('cancelled');
    expect(offences).toEqual([]);
  });

  test('a person opens a run, retries it from a step, and sees it complete, with keys alone', async () => {
    const { origin, token, failed, mend } = await desk();
    const { page, offences } = await openTab(origin, { key: token, path: '/runs' });
    const { keyboard } = page;
    await page.getByRole('link', { name: 'orders' }).waitFor();
    await keyboard.press('j');
    await keyboard.press('j');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'orders' }).waitFor();
    await page.locator('.item').nth(2).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/runs/${failed}`);
    for (let at = 0; at < 2; at += 1) await keyboard.press('j');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Retry from this step' }).waitFor();
    expect(await page.locator('.item[open] .place').first().innerText()).toBe('orders[0]');
    mend();
    for (let at = 0; at < 12; at += 1) {
      await keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement?.textContent === 'Retry from this step'`)) break;
    }
    await keyboard.press('Enter');
    expect(await page.getByLabel('From step').inputValue()).toBe('orders[0]');
    await page.getByLabel('From step').press('Enter');
    await expect.poll(() => status(page).innerText()).toBe('Completed');
    await expect.poll(() => page.locator('.item', { hasText: 'retry 1' }).count()).toBeGreaterThan(0);
    await keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Shortcuts' });
    expect(await help.innerText()).toContain('next and previous step');
    await keyboard.press('Escape');
    await page.goBack();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('orders');
    expect(offences).toEqual([]);
  });

  test('a person who asks for the whole input sees its end', async () => {
    const { origin, token, start } = await desk();
    const run = await start('refund.yaml', { amount: 1, text: `${'x'.repeat(9_000)} the end` });
    const { page } = await openTab(origin, { key: token, path: `/runs/${run}` });
    await page.getByText('Input', { exact: true }).click();
    await page.getByRole('button', { name: 'Show them whole' }).click();
    await expect.poll(() => page.locator('#main').innerText()).toContain('the end');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Input');
  });

  test('what others may not do is not there, and an error keeps what was typed', async () => {
    const { origin, folder, failed, waits, runtime } = await desk();
    const keys = await keysOf(folder);
    const [vera, ann] = [
      await keys.create({ name: 'vera', role: 'viewer' }),
      await keys.create({ name: 'ann', role: 'admin' }),
    ];
    const viewer = await openTab(origin, { key: vera.key, path: `/runs/${failed}` });
    await viewer.page.locator('.item').first().click();
    await viewer.page.locator('.work').waitFor();
    expect(await viewer.page.getByRole('button', { name: /Cancel|Resume|Retry/ }).count()).toBe(0);
    const { page } = await openTab(origin, { key: ann.key, path: `/runs/${waits}` });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Reason').fill('typed');
    await runtime.runs.cancel(waits, { by: 'joe' });
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.locator('dialog [role=alert]:not(:empty)').waitFor();
    expect(await page.locator('dialog [role=alert]').innerText()).toContain('already cancelled');
    expect(await page.getByLabel('Reason').inputValue()).toBe('typed');
    const unknown = await openTab(origin, { key: ann.key, path: '/runs/run_0' });
    await unknown.page.getByRole('heading', { name: 'The run cannot be shown' }).waitFor();
    expect(await unknown.page.locator('#main').innerText()).toContain('run_0');
    expect(await unknown.page.locator('.toast').count()).toBe(0);
  });

  test('runs and steps appear while the page is open, and leave what is open alone', async () => {
    const { origin, token, start, waits, runtime } = await desk();
    const list = await openTab(origin, { key: token, path: '/runs?pipeline=refund' });
    await list.page.getByRole('link', { name: 'refund' }).waitFor();
    await start('refund.yaml', { amount: 1 });
    await expect.poll(() => namesOf(list.page)).toEqual(['refund', 'refund']);
    const { page } = await openTab(origin, { key: token, path: `/runs/${waits}` });
    await page.locator('.item', { hasText: 'look' }).first().click();
    await page.locator('.work').waitFor();
    const [pending] = await runtime.pending.list({ runId: waits });
    await runtime.pending.approve(pending?.id ?? '', { by: 'mara' });
    await runtime.runs.resume(waits);
    await expect.poll(() => status(page).innerText()).toBe('Completed');
    await expect.poll(() => page.locator('.open-steps .item').count()).toBe(0);
    await expect
      .poll(() => page.locator('.steps summary > .place').allInnerTexts())
      .toEqual(['look', 'talk', 'pay']);
    expect(await page.locator('.item[open]').count()).toBe(1);
  });

  test('texts of others are text, with invisible characters by their code points', async () => {
    const { origin, token, completed, waits, runtime } = await desk();
    await runtime.runs.cancel(waits, { by: 'mara', reason: hostile });
    const { page, offences } = await openTab(origin, { key: token, path: '/runs' });
    await page.getByRole('link', { name: 'talk' }).waitFor();
    expect(await page.locator('.tag').first().innerText()).toBe('note=<b onclick=alert(1)>');
    await page.goto(`${origin}/console/runs/${completed}`);
    await page.locator('.item').first().click();
    await page.locator('.message').first().waitFor();
    expect(await page.locator('.message pre').allInnerTexts()).toEqual([marked, marked, marked]);
    await page.getByText('Input', { exact: true }).click();
    expect(await page.locator('.values .tree').first().innerText()).toContain(marked);
    await page.goto(`${origin}/console/runs/${waits}`);
    await page.locator('.fault').waitFor();
    expect(await page.locator('.fault').innerText()).toContain(`was cancelled by mara: ${marked}`);
    expect(await page.locator('#main :is(img, script, iframe)').count()).toBe(0);
    expect(offences).toEqual([]);
  });

  test.each(looks)('axe finds nothing in the list, a run and a dialog at $name', async ({ options }) => {
    const { origin, token, waits, failed } = await desk();
    const { page } = await openTab(origin, { key: token, path: '/runs', ...options });
    await page.getByRole('link', { name: 'talk' }).waitFor();
    await expectAccessible(page);
    for (const run of [waits, failed]) {
      await page.goto(`${origin}/console/runs/${run}`);
      await page.locator('.item').first().click();
      await page.locator('.work').first().waitFor();
      await page.locator('.facts', { hasText: 'Tool calls' }).waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await expectAccessible(page);
  });
});
