import { expect, test } from 'vitest';
import type { CaseRecord } from '../../../../src/suites/record.ts';
import { describeInBrowser, type Opened } from './open.ts';
import { caseOf, epochOf, headerOf, reportOf, resultOf } from './samples.ts';

const COUNT = 20_000;

/** With time for a busy machine. */
const poll = <Value>(look: () => Promise<Value>) => expect.poll(look, { timeout: 15_000, interval: 20 });

function* manyCases(): Generator<CaseRecord> {
  for (let number = 1; number <= COUNT; number += 1) yield largeCase(number);
}

/** One of ten fails. Its unique words are beyond what the list shows. */
function largeCase(number: number): CaseRecord {
  const passed = number % 10 !== 0;
  const content = `${'Step by step we come to the answer. '.repeat(20)}It is ${number}, reference R${number}E.`;
  const result = resultOf({
    passed,
    score: passed ? 1 : (number % 7) / 10,
    params: { truth: String(number) },
  });
  return caseOf(number, [epochOf({ content, results: [result] })], { tags: [`group-${number % 5}`] });
}

describeInBrowser((open) => {
  let opened: Promise<Opened> | undefined;
  const openOnce = (): Promise<Opened> => {
    opened ??= open({
      header: headerOf(),
      cases: manyCases(),
      report: reportOf(headerOf(), [1, 2, 3].map(largeCase), { cases: COUNT }),
    });
    return opened;
  };
  const idsOf = ({ page }: Opened): Promise<string[]> => page.locator('.row .row-id').allTextContents();
  const found = ({ page }: Opened): Promise<string | null> => page.locator('.found').textContent();

  test('twenty thousand cases open, with only a few rows in the document', async () => {
    const report = await openOnce();
    expect(await found(report)).toBe('20,000 cases');
    await report.page.evaluate('document.querySelector(".cases").scrollIntoView()');
    await poll(async () => (await idsOf(report)).length).toBeGreaterThan(5);
    const ids = await idsOf(report);
    expect(ids[0]).toBe('case-1');
    expect(ids.length).toBeLessThan(40);
    expect(report.offences).toEqual([]);
  });

  test('the list scrolls to its end, and rows out of view are removed', async () => {
    const report = await openOnce();
    await report.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await poll(() => idsOf(report)).toContain('case-20000');
    expect((await idsOf(report)).length).toBeLessThan(40);
  });

  test('filters and sorting apply to all cases', async () => {
    const report = await openOnce();
    await report.page.getByRole('button', { name: 'Failed' }).click();
    await report.page.getByLabel('Tag', { exact: true }).selectOption('group-0');
    await report.page.getByLabel('Sort').selectOption('lowest');
    expect(await found(report)).toBe('2,000 of 20,000 cases');
    await report.page.evaluate('document.querySelector(".cases").scrollIntoView()');
    await poll(async () => (await idsOf(report))[0]).toBe('case-70');
  });

  test('a search finds text that only a detail contains', async () => {
    const report = await openOnce();
    await report.page.getByRole('button', { name: 'Clear filters' }).click();
    await report.page.getByRole('searchbox').fill('reference r19990e');
    await poll(() => found(report)).toBe('1 of 20,000 cases');
    expect(await idsOf(report)).toEqual(['case-19990']);
  });

  test('a case far down opens from its address', async () => {
    const report = await openOnce();
    await report.goto('case=15000');
    expect(await report.page.locator('#case-title').textContent()).toBe('case-15000');
    expect(await idsOf(report)).toContain('case-15000');
    expect((await idsOf(report)).length).toBeLessThan(40);
  });
});
