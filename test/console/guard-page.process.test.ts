import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openSqliteDecisions } from '../../src/store/open-decisions.ts';
import { openAudit, recordOf } from '../gateway/audit-log.ts';
import { newDecision } from '../store/decision-examples.ts';
import { fixture, pipeline } from '../workspace.ts';
import { serve } from './serving.ts';
import { describeInBrowser, expectAccessible, looks } from './tab.ts';

const hostile = '<img src=x onerror=alert(1)>\u202egnp\u0000';
const marked = '<img src=x onerror=alert(1)>U+202EgnpU+0000';

const tools = `tools:
  refund: {input_schema: {type: object, properties: {amount: {type: integer}}}, exec: {command: ${fixture('echo-args')}}}
hooks:
  amount: {command: ${fixture('judges-amount.sh')}, args: ['50', '100'], hook: tool, phases: [before_execution]}
  strict: {command: ${fixture('judges-amount.sh')}, args: ['5', '10'], hook: tool, phases: [before_execution], mode: shadow}
`;

/** A console with decisions of real calls, and with some of the hours before. */
async function desk() {
  const pay = pipeline(
    'steps: [{id: look, tool: refund, args: {amount: 1}}, {id: pay, tool: refund, args: {amount: 800}}]',
  );
  const served = await serve(`decisions: {}\ngateway: {audit: {}}\n${tools}`, { 'pay.yaml': pay });
  const { runtime, folder } = served;
  for (const amount of [7, 20, 700]) await runtime.tools.call('refund', { amount });
  const store = await openSqliteDecisions(join(folder, '.signalbox/decisions.db'));
  const hourAgo = (hours: number) => Date.now() - hours * 3_600_000;
  await store.add([
    ...Array.from({ length: 300 }, (_, at) =>
      newDecision({ event: `old${at}`, hook: 'pii', at: hourAgo(at % 20) }),
    ),
    { what: 'decisions', dropped: 7, at: hourAgo(1) },
    newDecision({
      event: 'h',
      hook: hostile,
      verdict: 'deny',
      reason: hostile,
      error: 'PROCESS_EXIT',
      at: hourAgo(2),
    }),
    newDecision({ event: 'weeks', hook: 'old', verdict: 'abort', at: hourAgo(24 * 20) }),
  ]);
  await store.close();
  const audit = await openAudit(join(folder, '.signalbox'));
  const verdicts = [{ phase: 'before_call', verdict: 'deny', hook: 'pii', reason: hostile }];
  for (let at = 1; at <= 150; at += 1)
    await audit.write(
      recordOf({ id: `call_${at}`, ...(at % 50 === 0 && { outcome: 'denied', caller: hostile, verdicts }) }),
    );
  await audit.close();
  return served;
}

const items = (page: Page) => page.locator('.item');

describeInBrowser((openTab) => {
  test('decisions over time, by hook, with shadows beside filters; what was blocked is one click away', async () => {
    const { origin, token } = await desk();
    const { page, offences } = await openTab(origin, { key: token, path: '/guard' });
    await page.getByRole('img', { name: /^\d+ decisions by hour/ }).waitFor();
    const counts = page.getByRole('region', { name: 'Decisions of each hook' });
    const rowOf = async (name: string) => await counts.getByRole('row', { name }).innerText();
    // Hook; deny, abort, ask, respond, modify, allow; all, blocked.
    expect(await rowOf('amount')).toMatch(/^amount\s+1\s+0\s+0\s+0\s+0\s+2\s+3\s+33.3 %$/);
    expect(await rowOf('strict')).toContain('shadow');
    await page.getByText('As a table').click();
    expect(await page.getByRole('region', { name: 'Decisions over time' }).getByRole('row').count()).toBe(21);
    await page.getByRole('list', { name: 'Verdicts' }).getByRole('link', { name: /^deny/ }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?verdict=deny');
    await expect.poll(() => items(page).count()).toBe(4);
    expect(await page.locator('.gap').first().innerText()).toContain(
      '7 decisions could not be stored in time',
    );
    await counts.getByRole('row', { name: 'strict' }).getByRole('link', { name: '2' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?verdict=deny&hook=strict&mode=shadow');
    await expect.poll(() => items(page).count()).toBe(2);
    await items(page).last().click();
    const event = page.getByRole('region', { name: 'Decisions on this event' });
    await event.waitFor();
    const cells = (await event.getByRole('row').allInnerTexts())
      .slice(1)
      .map((row) => row.split('\t').slice(0, 3));
    expect(cells.toSorted()).toEqual([
      ['amount', 'filter', 'Allow'],
      ['strict', 'shadow', 'Deny'],
    ]);
    await page.getByRole('link', { name: 'Link to this event' }).click();
    await expect.poll(() => items(page).count()).toBe(2);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Since').selectOption('30d');
    await expect.poll(() => items(page).count()).toBeGreaterThan(98);
    expect(await page.getByRole('img', { name: /decisions by day/ }).count()).toBe(1);
    expect(offences).toEqual([]);
  });

  test('keys alone lead from the list to a decision, and from there to its run', async () => {
    const { origin, token, runtime, folder } = await desk();
    const { page, offences } = await openTab(origin, { key: token, path: '/guard' });
    const { keyboard } = page;
    await items(page).first().waitFor();
    await keyboard.press('/');
    await keyboard.type('amount');
    await keyboard.press('Enter');
    await expect.poll(() => items(page).count()).toBe(3);
    const { run_id } = await runtime.run(join(folder, 'pay.yaml'));
    await expect.poll(() => items(page).count()).toBe(5);
    await page.locator('h2').first().click();
    for (const key of ['j', 'j', 'k', 'Enter']) await keyboard.press(key);
    await page.getByRole('link', { name: 'Show it in the run' }).waitFor();
    expect(await page.locator('.item[open]').innerText()).toContain('800 is too much');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'Show all steps' }).waitFor();
    expect(page.url()).toBe(`${origin}/console/runs/${run_id}?step=pay`);
    await expect.poll(() => page.locator('summary > .place').allInnerTexts()).toEqual(['pay']);
    await page.goBack();
    await expect.poll(() => items(page).count()).toBe(5);
    expect(offences).toEqual([]);
  });

  test('the audit lists calls of the gateway by page and filter, and shows one whole', async () => {
    const { origin, token } = await desk();
    const { page, offences } = await openTab(origin, { key: token, path: '/guard' });
    await page.getByRole('link', { name: 'Calls of the gateway' }).click();
    await items(page).nth(99).waitFor();
    await page.keyboard.press('End');
    await expect.poll(() => items(page).count()).toBe(150);
    await page.getByLabel('Outcome').selectOption('denied');
    await expect.poll(() => items(page).count()).toBe(3);
    expect((await items(page).first().innerText()).split('\n')).toEqual(
      expect.arrayContaining(['Denied', marked, 'gpt-5 → main', '12 in, 34 out', '$0.013', '813 ms']),
    );
    await items(page).first().click();
    await expect.poll(() => page.locator('.item-body').first().innerText()).toContain(marked);
    expect(await page.locator('#main img').count()).toBe(0);
    expect(offences).toEqual([]);
  });

  test('without records, the page says which line of the config turns them on', async () => {
    const { origin, token } = await serve(tools);
    const { page } = await openTab(origin, { key: token, path: '/guard' });
    const line = page.locator('pre.code');
    await expect.poll(() => line.innerText()).toBe('decisions: {keep: 30d}');
    await page.getByRole('link', { name: 'Calls of the gateway' }).click();
    await expect.poll(() => line.innerText()).toBe('gateway: {audit: {}}');
  });

  test.each(looks)('axe finds nothing in decisions and the audit at $name', async ({ options }) => {
    const { origin, token } = await desk();
    const { page } = await openTab(origin, { key: token, path: '/guard', ...options });
    for (const path of ['/guard', '/guard/audit']) {
      await page.goto(`${origin}/console${path}`);
      await items(page).first().click();
      await page.locator('.item-body .facts').first().waitFor();
      for (const each of await page.getByText('As a table').all()) await each.click();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
  });
});
