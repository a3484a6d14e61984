import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openRuntime } from '../../../src/runtime/runtime.ts';
import { suite, workspace } from '../../workspace.ts';
import { describeInBrowser } from '../tab.ts';
import { openView } from './support.ts';

const CASES = 100_000;

/** One of ten fails. */
async function openLarge() {
  const evals = 'evals: [{id: right, type: contains, params: {patterns: ["${case.truth}"]}}]\n';
  const spec = `dataset: {path: cases.jsonl}\ncase: {id: "\${case.id}", content: "\${case.answer}", tags: ["\${case.tag}"]}\n${evals}`;
  const folder = workspace('', { 's.suite.yaml': suite(spec) });
  const rows = Array.from({ length: CASES }, (_none, at) =>
    JSON.stringify({
      ...{ id: `case-${at + 1}`, tag: `group-${at % 5}`, truth: `number ${at}` },
      answer: `${'Step by step we come to the answer. '.repeat(5)}It is number ${at % 10 === 0 ? 'x' : at}.`,
    }),
  );
  writeFileSync(join(folder, 'cases.jsonl'), rows.join('\n'));
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const { run_id: id } = await runtime.evals.run(join(folder, 's.suite.yaml'));
  return { runtime, id };
}

/** Runs in the page before its scripts: when the first row and the last are there, in milliseconds. */
const clock = `
  globalThis.times = {};
  const look = () => {
    if (document.querySelector('[data-case]') !== null) times.usable ??= Math.round(performance.now());
    const found = document.querySelector('.found')?.textContent ?? '';
    if (found === '100,000 cases') times.whole ??= Math.round(performance.now());
    if (times.whole === undefined) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

describeInBrowser((openTab) => {
  let large: ReturnType<typeof openLarge> | undefined;
  afterAll(async () => await (await large)?.runtime.close());

  test('a hundred thousand cases show their first rows at once, and are usable while the rest loads [DS-VIEW-07]', async () => {
    large ??= openLarge();
    const { runtime, id } = await large;
    const { origin, token } = await openView([runtime]);
    const { page, offences } = await openTab(origin, { path: '/evals', key: token });
    await page.getByRole('link', { name: id.slice(0, 8) }).waitFor();
    await page.addInitScript(clock);
    await page.goto(`${origin}/console/evals/${id}`);
    await page.locator('[data-case="1"]').click();
    await page.locator('#case-title').waitFor();
    expect(await page.locator('#case-title').textContent()).toBe('case-1');
    const early = await page.locator('.found').textContent();
    expect(early).toMatch(/ of 100,000 cases, loading …$/);
    await page.keyboard.press('Escape');
    await page.getByText('100,000 cases', { exact: true }).waitFor({ timeout: 60_000 });
    const look = `({...times, paint: Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0), heap: Math.round(performance.memory.usedJSHeapSize / 2 ** 20)})`;
    console.log(
      'milliseconds, and MB of the page:',
      await page.evaluate(look),
      'when a case was open:',
      early,
    );
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.getByLabel('Tag', { exact: true }).selectOption('group-0');
    await page.getByText('10,000 of 100,000 cases').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.locator('[data-case="100000"]').waitFor();
    expect(await page.locator('[data-case]').count()).toBeLessThan(40);
    expect(offences).toEqual([]);
  });

  test('a server sends lines only as fast as they are read [DS-VIEW-07]', async () => {
    large ??= openLarge();
    const { runtime, id } = await large;
    const { origin, authorization } = await openView([runtime]);
    const whole = await fetch(`${origin}/api/v1/evals/runs/${id}/report`, { headers: { authorization } });
    const bytes = (await whole.bytes()).length;
    let read = 0;
    const { open } = runtime.evals.runs;
    Object.assign(runtime.evals.runs, {
      open: async (run: string) => {
        const source = await open(run);
        const cases = async function* (caseId?: string) {
          for await (const record of source.cases(caseId)) {
            read += 1;
            yield record;
          }
        };
        return { ...source, cases };
      },
    });
    const stalled = await fetch(`${origin}/api/v1/evals/runs/${id}/report`, { headers: { authorization } });
    const reader = stalled.body?.getReader();
    await reader?.read();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([bytes > 10e6, read < CASES / 2]).toEqual([true, true]);
    await reader?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const after = read;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(read).toBe(after);
  });
});
