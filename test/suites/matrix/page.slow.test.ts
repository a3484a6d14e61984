import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeInBrowser, type Opened } from '../report/html/open.ts';
import { caseOf, epochOf, headerOf, reportOf, resultOf } from '../report/html/samples.ts';
import { runMatrix } from './support.ts';

const idsOf = ({ page }: Opened): Promise<string[]> => page.locator('.row .row-id').allTextContents();

describeInBrowser((open) => {
  const matrixRun = async () => {
    const { header, records, report } = await runMatrix(
      [
        { small: 0, large: 1 },
        { small: 1, large: 1 },
        { small: 'fault', large: 0 },
        { small: 1, large: 0.75 },
      ],
      { spec: 'gates: [{eval: good, metric: mean, better_than: small}]' },
    );
    return { header, cases: records, report };
  };

  test('the page has a column for each variant, and a row for each row of the dataset [DS-MATRIX-08]', async () => {
    const opened = await open(await matrixRun());
    const { page, offences } = opened;
    expect(await page.locator('.title').innerText()).toBe('demo\nError');
    const variants = page.getByRole('table').filter({ hasText: 'pass rate' });
    expect((await variants.getByRole('row').allInnerTexts()).slice(0, 3)).toEqual([
      // Only gates decide, and no gate covers the first.
      '\tsmall Error\tlarge Failed',
      'good pass rate\t50.0 %\t75.0 %',
      'good mean\t0.667 ± 0.333\t0.688 ± 0.237',
    ]);
    expect(await page.getByRole('region', { name: 'Gates' }).innerText()).toContain('too few');
    expect(await idsOf(opened)).toEqual(['r1', 'r2', 'r3', 'r4']);
    expect(await page.locator('.found').textContent()).toBe('4 cases');
    await page.getByRole('button', { name: /^Differs/ }).click();
    expect(await idsOf(opened)).toEqual(['r1', 'r3', 'r4']);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const csv = readFileSync(await (await saving).path(), 'utf8').split('\r\n');
    expect(csv[0]).toMatch(/^number,case,.*,content,variant,/);
    expect(csv.slice(1, 3).map((line) => line.split(',').slice(0, 2))).toEqual([
      ['1', 'r1'],
      ['1', 'r1'],
    ]);
    expect([csv.length, csv[1]?.includes(',small,'), csv[2]?.includes(',large,')]).toEqual([8, true, true]);
    expect(offences).toEqual([]);
  });

  test('a row shows differences side by side, and everything on demand; by keyboard, in dark mode, and on a phone [DS-MATRIX-08]', async () => {
    for (const options of [{}, { colorScheme: 'dark' as const }, { viewport: { width: 390, height: 800 } }]) {
      const { page, offences } = await open(await matrixRun(), { ...options, hash: '' });
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      const side = page.locator('.side');
      const rows = async () =>
        (await side.getByRole('rowheader').allInnerTexts()).filter((name) => name !== '');
      expect(await page.locator('#case-title').textContent()).toBe('r1');
      expect(await side.getByRole('columnheader').allInnerTexts()).toEqual(['small Failed', 'large Passed']);
      expect(await rows()).toEqual(['Answer', 'good', 'Took']);
      await page.keyboard.press('j');
      // Both have the same result for it.
      expect(await rows()).toEqual(['Answer', 'Took']);
      expect(await page.locator('.side-scroll').innerText()).toContain(
        '1 eval says the same of all variants.',
      );
      await page.getByRole('button', { name: 'Only differences' }).click();
      expect(await rows()).toEqual(['Answer', 'good', 'Asked', 'Took']);
      await page.keyboard.press('j');
      expect(await side.innerText()).toContain('it is down');
      await side.getByText('Everything').first().click();
      await expect.poll(() => side.innerText()).toContain('Results');
      await page.keyboard.press('Escape');
      expect(await side.isVisible()).toBe(false);
      expect(offences).toEqual([]);
    }
  });

  test('ten thousand rows of three variants are searched and opened quickly', async () => {
    const names = ['a', 'b', 'c'];
    const header = headerOf({ variants: names.map((name) => ({ name, provider: name })) });
    function* cases() {
      for (let number = 1; number <= 10_000; number += 1) {
        for (const [index, variant] of names.entries()) {
          const passed = (number + index) % 7 !== 0;
          const results = [resultOf({ score: passed ? 1 : 0, passed })];
          yield caseOf(number, [epochOf({ content: `${variant} says ${number}`, results })], {
            id: `case-${number}`,
            variant,
          });
        }
      }
    }
    const report = { ...reportOf(header, []), variants: [], comparisons: [] };
    const { page, offences } = await open({ header, cases: cases(), report });
    expect(await page.locator('.found').textContent()).toBe('10,000 cases');
    const began = Date.now();
    await page.locator('#search').fill('b says 9999');
    await page.locator('.found', { hasText: '1 of 10,000 cases' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    expect(await page.locator('.side').innerText()).toContain('b says 9999');
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(offences).toEqual([]);
  });
});
