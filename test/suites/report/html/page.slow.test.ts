import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRunFile } from '../../../../src/suites/report/run-file.ts';
import { describeInBrowser, type Opened } from './open.ts';
import { emptyRun, epochsRun, failingRun, guardRun, passedRun } from './runs.ts';
import { caseOf, epochOf, headerOf, reportOf, resultOf } from './samples.ts';

const failing = failingRun();

const idsOf = async (report: Opened): Promise<string[]> => {
  await found(report);
  return report.page.locator('.row .row-id').allTextContents();
};
/** The number of cases found, once the search is complete. */
const found = ({ page }: Opened): Promise<string | null> =>
  page.locator('.found', { hasNotText: 'searching' }).textContent();
const hashOf = ({ page }: Opened): string => new URL(page.url()).hash;
const titleOf = ({ page }: Opened): Promise<string | null> => page.locator('#case-title').textContent();

function oneResult(content: string, params: Record<string, unknown>) {
  const header = headerOf();
  const results = [resultOf({ score: 0, passed: false, params })];
  const cases = [caseOf(1, [epochOf({ content, results })])];
  return { header, cases, report: reportOf(header, cases) };
}

describeInBrowser((open) => {
  test('the headline, the gates and the evals show the result of the run', async () => {
    const { page, offences } = await open(failing);
    expect(await page.locator('.title').innerText()).toBe('gsm8k\nFailed');
    expect(await page.getByRole('region', { name: 'Gates' }).getByRole('row').allInnerTexts()).toEqual([
      'Gate\tMetric\tValue\tWanted',
      'failed\nexact\tpass_rate\t0.7416\t≥ 0.8',
      'passed\nexact model-large\tmean\t0.871\t≥ 0.8',
      'passed\nWhole cases\tunscored_share\t0.0083\t≤ 0.02',
    ]);
    const card = page.getByRole('article', { name: 'exact' });
    expect(await card.locator('.big').textContent()).toBe('74.2 %');
    expect(await card.getByRole('img').getAttribute('aria-label')).toBe(
      'Scores. 0.0 to 0.1: 30 cases; 0.9 to 1.0: 89 cases',
    );
    expect(await page.locator('.problems').innerText()).toContain('data/solutions.jsonl:57:14');
    expect(offences).toEqual([]);
  });

  test.each([
    { by: 'status', hash: 'status=unscored', ids: ['gsm8k-6'] },
    {
      by: 'the score of an eval',
      hash: 'eval=shows_steps&min=0.2&max=0.4&q=gsm8k-1',
      ids: ['gsm8k-16', 'gsm8k-100'],
    },
    { by: 'tag and search in details', hash: 'tag=two-step&q=no+number', ids: ['gsm8k-6'] },
    {
      by: 'nonsense, which counts for nothing',
      hash: 'status=odd&min=x&sort=up&case=x&q=gsm8k-120',
      ids: ['gsm8k-120'],
    },
  ])('an address filters by $by', async ({ hash, ids }) => {
    const report = await open(failing, { hash });
    expect(await idsOf(report)).toEqual(expect.arrayContaining(ids));
    expect((await found(report))?.split(' ')[0]).toBe(String((await idsOf(report)).length));
  });

  test('filters and open cases are in the address, and are restored from it', async () => {
    const report = await open(failing);
    const { page } = report;
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.getByLabel('Tag', { exact: true }).selectOption('two-step');
    await page.getByLabel('Highest score').fill('0.5');
    await page.getByLabel('Sort').selectOption('id');
    await page.locator('.row').nth(1).click();
    expect(hashOf(report)).toBe('#status=failed&tag=two-step&max=0.5&sort=id&case=21');
    const before = { ids: await idsOf(report), title: await titleOf(report), found: await found(report) };
    await report.goto(hashOf(report).slice(1));
    expect({ ids: await idsOf(report), title: await titleOf(report), found: await found(report) }).toEqual(
      before,
    );
    await page.getByRole('button', { name: 'Clear filters' }).click();
    expect([hashOf(report), await found(report)]).toEqual(['#sort=id&case=21', '120 cases']);
  });

  test('the keys search, move, open, close and explain', async () => {
    const report = await open(failing);
    const { page } = report;
    const active = () => page.evaluate('document.activeElement.id');
    await page.keyboard.press('/');
    expect(await active()).toBe('search');
    await page.keyboard.type('gsm8k-11');
    await page.keyboard.press('Escape');
    expect([await active(), hashOf(report)]).toEqual(['cases', '#q=gsm8k-11']);
    expect(await found(report)).toBe('11 of 120 cases');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    expect([await active(), await titleOf(report)]).toEqual(['case-title', 'gsm8k-110']);
    await page.keyboard.press('j');
    expect([await titleOf(report), hashOf(report)]).toEqual(['gsm8k-111', '#q=gsm8k-11&case=111']);
    await page.keyboard.press('Escape');
    expect([await active(), await page.locator('.panel').isVisible()]).toEqual(['cases', false]);
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog', { name: 'Shortcuts' }).isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog', { name: 'Shortcuts' }).isVisible()).toBe(false);
    expect(report.offences).toEqual([]);
  });

  test('going back closes the case', async () => {
    const report = await open(failing, { hash: 'status=failed' });
    await report.page.locator('.row').first().click();
    expect(hashOf(report)).toBe('#status=failed&case=1');
    await report.page.goBack();
    expect(await report.page.locator('.panel').isVisible()).toBe(false);
  });

  test('a fault shows its code, its hint and the process output', async () => {
    const { page } = await open(failing, { hash: 'case=6' });
    const result = await page.locator('.result').first().innerText();
    expect(result).toContain('PROCESS_EXIT evals/final_number ended with exit code 1');
    expect(result).toContain('ValueError: no number');
    expect(result).toContain('2 attempts');
  });

  test('a case shows its row, its variables, and what was cut', async () => {
    const epoch = epochOf({ variables: { tone: 'kind' } });
    const row = { question: '<b>How</b> many?', truth: { is: [41] }, page: 'x'.repeat(30_000_000) };
    const header = headerOf();
    const cases = [caseOf(1, [epoch], { row })];
    const { page, offences } = await open(
      { header, cases, report: reportOf(header, cases) },
      { hash: 'case=1' },
    );
    expect(await page.locator('.panel-body > details .fields').locator('dt').allTextContents()).toEqual([
      'question',
      'truth',
      'page',
    ]);
    const values = await page.locator('.panel-body > details .fields').locator('pre').allTextContents();
    expect(values.slice(0, 2)).toEqual(['<b>How</b> many?', '{\n  "is": [\n    41\n  ]\n}']);
    expect(await page.locator('.panel').innerText()).toContain(
      'To keep this page small, this case is cut: row.page to 6,000,000 of 30,000,000 characters',
    );
    expect(await page.locator('.epoch-body .fields').innerText()).toBe('tone\nkind');
    expect(offences).toEqual([]);
  });

  test('the found cases are exported, as CSV without formulas and as a readable run', async () => {
    const header = headerOf({ suite: 'a/b <x>' });
    const bad = resultOf({ score: 0, passed: false });
    const long = JSON.rawJSON('12345678901234567890');
    const cases = [
      caseOf(1, [epochOf({ results: [bad] })], { row: { question: '=1+1', n: long }, tags: ['t'] }),
      caseOf(2, [epochOf()], { row: { question: 'no' } }),
    ];
    const report = await open({ header, cases, report: reportOf(header, cases) }, { hash: 'status=failed' });
    const exported = async (name: string) => {
      const [download] = await Promise.all([
        report.page.waitForEvent('download'),
        report.page.getByRole('button', { name, exact: true }).click(),
      ]);
      return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
    };
    expect(await exported('CSV')).toEqual([
      'a-b-x-.csv',
      'number,case,tags,case_score,case_passed,score.exact,why,content,row.question,row.n\r\n' +
        "1,case-1,t,0,false,0,exact did not pass,The answer is 18.,'=1+1,12345678901234567890\r\n",
    ]);
    const [, lines = ''] = await exported('JSON Lines');
    const file = join(mkdtempSync(join(tmpdir(), 'export-')), 'run.jsonl');
    writeFileSync(file, lines);
    const run = await openRunFile(file);
    expect(await Array.fromAsync(run.cases())).toEqual(cases.slice(0, 1));
  });

  test.each([
    {
      title: 'words that differ',
      run: oneResult('The cat sat on a mat.', { expected: 'The dog sat on a mat.' }),
      marks: { del: ['dog'], ins: ['cat'], mark: [] },
    },
    {
      title: 'JSON, whatever its white space',
      run: oneResult('{"a":1,"b":[2]}', { expected: { a: 1, b: [3] } }),
      marks: { del: ['3'], ins: ['2'], mark: [] },
    },
    {
      title: 'a short truth in a long text',
      run: oneResult(`${'word '.repeat(30)}18 and 18`, { truth: '18' }),
      marks: { del: [], ins: [], mark: ['18', '18'] },
    },
    {
      title: 'patterns, whatever their case',
      run: oneResult('Berlin is warm.', { patterns: ['berlin', 'cold'] }),
      marks: { del: [], ins: [], mark: ['Berlin'] },
    },
  ])('a comparison marks $title', async ({ run, marks }) => {
    const { page } = await open(run, { hash: 'case=1' });
    const texts = (name: string) => page.locator(`pre.diff ${name}`).allTextContents();
    expect({ del: await texts('del'), ins: await texts('ins'), mark: await texts('mark') }).toEqual(marks);
  });

  test('epochs are shown one at a time, starting with the first that failed', async () => {
    const { page } = await open(epochsRun(), { hash: 'case=2' });
    expect(await page.getByRole('button', { pressed: true }).allInnerTexts()).toContain('failed\nEpoch 2');
    expect(await page.locator('.panel').innerText()).toContain('I do not know the weather.');
    await page.getByRole('button', { name: 'Epoch 3' }).click();
    const panel = await page.locator('.panel').innerText();
    expect(panel).toContain('The subject answered from the cache.');
    expect(panel).toContain('It is 22 degrees in Berlin.');
    expect(panel).toMatch(/calls\s+weather\s+\{\s+"city": "Berlin"\s+\}\s+result\s+22C/);
  });

  test('a guard has its confusion matrix, its ROC curve and its hooks', async () => {
    const { page } = await open(guardRun(), { hash: 'case=50' });
    expect(await page.getByRole('table', { name: 'Confusion matrix' }).innerText()).toBe(
      'Confusion matrix\n\tFlagged\tLet pass\nShould be flagged\t46\t6\nShould pass\t3\t65',
    );
    expect(await page.locator('.roc').getAttribute('aria-label')).toBe('ROC curve of 7 points, area 0.957');
    expect(await page.locator('.panel .figures').innerText()).toContain('topic-guard\tallow\t44 ms');
  });

  test('a run that was aborted in the middle of a line shows what exists', async () => {
    const { header, cases } = failingRun(3);
    const report = await open({ header, cases });
    expect(await report.page.locator('.title').innerText()).toBe('gsm8k\nNot finished');
    expect([await idsOf(report), report.offences]).toEqual([['gsm8k-1', 'gsm8k-2', 'gsm8k-3'], []]);
  });

  test('the page says which details were omitted', async () => {
    const run = passedRun();
    const { page } = await open(run, { hash: 'case=2', largestPage: 1 });
    expect(await page.getByRole('note').innerText()).toContain('the details of 4 passed cases were left out');
    expect(await page.locator('.panel').innerText()).toContain('were left out to keep the page small');
  });

  test('a run without cases says so', async () => {
    const { page, offences } = await open(emptyRun());
    expect(await page.locator('.nothing').innerText()).toBe('No case ran.');
    expect(offences).toEqual([]);
  });

  test('a run that is void says why', async () => {
    const run = emptyRun();
    const problem = {
      scope: 'run',
      file: 'rows.jsonl',
      line: 1,
      column: 1,
      message: 'the dataset is empty',
    } as const;
    const report = { ...run.report, problems: [problem], problem_count: 1 };
    const { page, offences } = await open({ ...run, report });
    expect(await page.getByRole('region', { name: 'The run is invalid' }).innerText()).toContain(
      'the dataset is empty',
    );
    expect(offences).toEqual([]);
  });

  test('on a phone nothing is wider than the screen, and an open case covers everything', async () => {
    const { page } = await open(failing, { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' });
    const width = () => page.evaluate('document.documentElement.scrollWidth');
    expect(await width()).toBe(390);
    await page.evaluate('document.querySelector(".cases").scrollIntoView()');
    await page.locator('.row').first().click();
    expect(await page.locator('.panel').boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    expect(await width()).toBe(390);
    expect(await page.locator('main[inert]').count()).toBe(1);
  });

  test('the switch inverts the theme, and the page remembers it', async () => {
    const report = await open(failing, { colorScheme: 'dark' });
    const ground = () => report.page.evaluate('getComputedStyle(document.body).backgroundColor');
    const dark = await ground();
    await report.page.getByRole('button', { name: 'Switch to the light theme' }).click();
    const light = await ground();
    await report.goto('');
    expect([dark, light, await ground()]).toEqual(['rgb(19, 21, 24)', 'rgb(247, 247, 246)', light]);
  });

  test.each([
    { motion: 'no-preference' as const, name: 'appear' },
    { motion: 'reduce' as const, name: 'none' },
  ])('an opening case animates as the system allows: $motion', async ({ motion, name }) => {
    const { page } = await open(failing, { hash: 'case=1', reducedMotion: motion });
    expect(await page.evaluate('getComputedStyle(document.querySelector(".panel")).animationName')).toBe(
      name,
    );
  });

  test('a printed page has its rows one below the other, and no controls', async () => {
    const { page } = await open(failing);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    const printed = await page.locator('.row').count();
    const controls = await page.locator('.toolbar').isVisible();
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    expect([printed, controls, (await page.locator('.row').count()) < 60]).toEqual([120, false, true]);
  });

  test('paper shows everything unfolded, complete and in colour, and how many cases were omitted', async () => {
    const { page, offences } = await open(failing, { hash: 'status=failed&case=1' });
    const state = async () => ({
      folded: await page.locator('details:not([open])').count(),
      said: await page.locator('.cases > .printed').isVisible(),
    });
    const before = await state();
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    expect(await state()).toEqual({ folded: 0, said: true });
    expect(await page.locator('.cases > .printed').textContent()).toBe('31 of 120 cases');
    const look = `(() => {
      const words = document.querySelector('.row-words');
      return [getComputedStyle(words).whiteSpace, getComputedStyle(words).printColorAdjust, words.scrollWidth <= words.clientWidth];
    })()`;
    expect(await page.evaluate(look)).toEqual(['normal', 'exact', true]);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: 'screen' });
    expect(await state()).toEqual({ folded: before.folded, said: false });
    expect(before.folded).toBeGreaterThan(0);
    expect(offences).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('text has enough contrast: %s', async (colorScheme) => {
    for (const run of [failing, guardRun()]) {
      const { page } = await open(run, {
        hash: 'case=6&status=failed',
        colorScheme,
        reducedMotion: 'reduce',
      });
      expect(await page.evaluate(faintTexts)).toEqual([]);
    }
  });
});

/** Texts below the contrast of WCAG 2.2 AA, with their class and contrast. */
const faintTexts = `(() => {
  const toRgba = (colour) => {
    const numbers = colour.match(/[\\d.]+/g).map(Number);
    return [...numbers.slice(0, 3), numbers[3] ?? 1];
  };
  const groundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const ground = toRgba(getComputedStyle(at).backgroundColor);
      if (ground[3] === 1) return ground;
    }
    return [255, 255, 255, 1];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => one / 255).map((one) =>
      one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const faint = [];
  let seen = 0;
  for (const element of document.querySelectorAll('body *:not(script, style, noscript)')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || !element.checkVisibility() || element.ownerSVGElement) continue;
    seen += 1;
    const [a, b] = [toRgba(getComputedStyle(element).color), groundOf(element)].map(light);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(element.tagName + '.' + element.className + ' ' + contrast.toFixed(2));
  }
  return seen < 50 ? ['too few texts were seen'] : faint;
})()`;
