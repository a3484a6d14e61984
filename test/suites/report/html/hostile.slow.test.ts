import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CaseRecord } from '../../../../src/suites/record.ts';
import { describeInBrowser, type Opened } from './open.ts';
import { passedRun } from './runs.ts';
import { caseOf, epochOf, exact, headerOf, type Run, reportOf, resultOf } from './samples.ts';
import { writePage } from './write.ts';

const texts: Readonly<Record<string, string>> = {
  'an end of the script element': '</script><script>alert(1)</script>',
  'a comment that swallows the end of a script': '<!--<script>alert(1)</script>',
  'an image with a handler': '<img src=x onerror=alert(1)><svg onload=alert(2)>',
  'an address that runs': 'javascript:alert(1)',
  'a template of other frameworks': '{{constructor.constructor("alert(1)")()}} ${alert(1)}',
  'references to characters': '&lt;b&gt; &amp;amp; &#60;i&#62;',
  'a turn of the direction of writing': 'invoice\u202egnp.exe',
  'a NUL': 'before\u0000after',
  'halves of surrogate pairs': 'x\ud800y\udc00z',
  'all kinds of line ends': 'a\r\nb\rc\u2028d\u2029e\u0085f',
  'a quote and a backslash': `"'\\\u005c"</style><style>*{display:none}</style>`,
  'a key of every object': '__proto__',
  'a word wider than a phone': 'W'.repeat(3000),
};

/** Invisible characters are shown by their code points; JSON escapes some of them before. */
function shown(text: string, characters = /[\p{Cc}\u2028\u2029\u202e](?<!\n|\r(?=\n))|\p{Cs}/gu): string {
  return text.replaceAll(characters, (character) => {
    return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

function hostileCase(text: string, number: number): CaseRecord {
  const record = JSON.parse(`{"nested": {"__proto__": {"polluted": true}, "constructor": 1}}`);
  // Not an assignment, which would fail for `__proto__`.
  Object.defineProperty(record, text, { value: text, enumerable: true });
  const result = resultOf({
    eval: text,
    score: 0,
    passed: false,
    detail: text,
    params: { ...record, expected: text, patterns: [text] },
    data: record,
    error: { code: 'PROCESS_EXIT', message: text, hint: text, details: record },
    stderr: text,
    content: text,
  });
  const epoch = epochOf({
    content: `judged ${text}`,
    messages: [
      { role: 'user', content: text, [text]: text },
      { role: 'assistant', content: text, tool_calls: [{ name: text }] },
    ],
    tool_calls: [{ name: text, args: record, result: text, error: text, index: 1 }],
    metadata: record,
    variables: record,
    results: [result],
  });
  return caseOf(number, [epoch], { id: text, tags: [text], file: text, row: record });
}

function hostileRun(): Run {
  const all = Object.values(texts);
  const evals = all.map((text) => ({ ...exact, id: text, type: text }));
  const header = headerOf({ suite: all.join(' '), file: all.join(' '), run_id: all.join(' '), evals });
  const cases = all.map((text, index) => hostileCase(text, index + 1));
  const problems = all.map((text) => ({ file: text, line: 1, column: 1, message: text, hint: text }));
  const gates = all.map((text) => {
    return { eval: text, metric: text, tag: text, value: 0, min: 1, max: null, passed: false };
  });
  const more = { status: 'failed' as const, gates, problems, problem_count: problems.length };
  return { header, cases, report: reportOf(header, cases, more) };
}

/** Elements that could run or load something, or that the page does not create. */
const foreignElements = `[...document.querySelectorAll('*')].filter((element) =>
  ['IMG', 'IFRAME', 'OBJECT', 'EMBED', 'FORM', 'BASE', 'A', 'I', 'B'].includes(element.tagName) ||
  [...element.attributes].some(({ name }) => name.startsWith('on') || name === 'src' || name === 'style' &&
    !element.matches('.list, .row'))
).length + document.querySelectorAll('script, style').length`;

describeInBrowser((open) => {
  let opened: Promise<Opened> | undefined;
  const openOnce = (): Promise<Opened> => {
    opened ??= open(hostileRun());
    return opened;
  };

  test.each(Object.entries(texts))('%s stays plain text', async (name, text) => {
    const { page, offences } = await openOnce();
    const said = JSON.stringify(shown(text));
    const key = JSON.stringify(shown(text, /[\u0085\u2028\u2029\u202e]/g));
    await page.evaluate(`new Promise((done) => {
      addEventListener('popstate', done, { once: true });
      location.hash = 'case=${Object.keys(texts).indexOf(name) + 1}';
    }).then(() => null)`);
    const seen = await page.evaluate(`({
      id: document.querySelector('#case-title').textContent === ${said},
      judged: [...document.querySelectorAll('pre')].some((pre) => pre.textContent === 'judged ' + ${said}),
      row: [...document.querySelectorAll('.fields dt')].some((dt) => dt.textContent === ${said} &&
        dt.nextElementSibling.querySelector('pre').textContent === ${said}),
      detail: document.querySelector('.result > .text > pre').textContent === ${said},
      metadata: ${key} in JSON.parse([...document.querySelectorAll('.epoch-body > .text > pre')].at(-1).textContent),
      proto: document.querySelector('.panel').textContent.includes('"__proto__": {'),
      clean: {}.polluted === undefined,
      strangers: ${foreignElements},
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`);
    expect({ ...Object(seen), offences }).toEqual({
      id: true,
      judged: true,
      row: true,
      detail: true,
      metadata: true,
      proto: true,
      clean: true,
      // The script, the script of the package diff, and the style sheet.
      strangers: 2,
      overflow: 0,
      offences: [],
    });
  });

  test('the headline shows its text exactly', async () => {
    const { page } = await openOnce();
    const wanted = JSON.stringify(shown(hostileRun().header.suite));
    expect(await page.evaluate(`document.querySelector('h1').textContent === ${wanted}`)).toBe(true);
  });

  test('injected code in the page neither runs nor loads', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'report.html');
    await writePage(file, passedRun());
    const added = '<script>document.title = "run"</script><img src="http://127.0.0.1:9/x.png"></body>';
    writeFileSync(file, readFileSync(file, 'utf8').replace('</body>', added));
    const { page, offences } = await open({ file });
    expect(await page.title()).toBe('smoke: eval report');
    expect(offences).toEqual([
      expect.stringMatching(/inline script violates .* Policy directive 'script-src .* has been blocked/),
      expect.stringMatching(
        /Loading the image .* violates .* Policy directive: "img-src .* has been blocked/,
      ),
      // The browser reports the request before the policy blocks it.
      'request: http://127.0.0.1:9/x.png',
    ]);
  });

  test('the page refuses text that would be parsed as markup', async () => {
    const { page } = await open(passedRun());
    const write = page.evaluate(`document.body.innerHTML = '<b>bold</b>'`);
    await expect(write).rejects.toThrow('TrustedHTML');
    expect(await page.locator('b').count()).toBe(0);
  });

  test('a case of megabytes is shown completely', async () => {
    const content = `${'all work and no play '.repeat(250_000)}END`;
    const header = headerOf();
    const cases = [caseOf(1, [epochOf({ content })])];
    const { page, offences } = await open(
      { header, cases, report: reportOf(header, cases) },
      { hash: 'case=1' },
    );
    await page.getByRole('button', { name: 'Show all 5,250,003 characters' }).click();
    const [length, end] = Object(
      await page.evaluate(`(({ textContent: text }) => [text.length, text.slice(-3)])(
      document.querySelector('.text pre'))`),
    );
    expect({ length, end, offences }).toEqual({ length: 5_250_003, end: 'END', offences: [] });
  });

  test('a number keeps its original digits', async () => {
    const header = headerOf();
    const metadata = { id: JSON.rawJSON('12345678901234567890') };
    const cases = [caseOf(1, [epochOf({ metadata })])];
    const { page } = await open({ header, cases, report: reportOf(header, cases) }, { hash: 'case=1' });
    expect(await page.locator('pre.code').last().textContent()).toContain('12345678901234567890');
  });
});
