import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../browser.ts';
import { openDesk } from '../console/desk.ts';
import { emptyRun, epochsRun, failingRun, guardRun, passedRun } from '../suites/report/html/runs.ts';
import { writePage } from '../suites/report/html/write.ts';

// Pictures of the html report, the console and the site, narrow and wide, light and dark: `screenshots.ts [FOLDER]
// [PAGE.html | console]`. With a page, only of this report; without, of sample runs, the console and pages of the site.

const sizes = [
  { name: 'phone', viewport: { width: 390, height: 844 } },
  { name: 'desk', viewport: { width: 1440, height: 900 } },
];
const themes = ['light', 'dark'] as const;
const samples = {
  failing: failingRun(),
  guard: guardRun(),
  epochs: epochsRun(),
  passed: passedRun(),
  empty: emptyRun(),
};

const sitePages = ['index', 'guides/write-hooks', 'reference/gateway'];

const [folder = 'screenshots', page] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
if (page === undefined || page === 'console') await takeConsole(browser, folder);
if (page !== 'console')
  for (const file of page === undefined ? await writeSamples() : [resolve(page)])
    await takePictures(browser, file, folder);
if (page === undefined) await takeSite(browser, folder);
await browser.close();

async function takeConsole(started: Browser, into: string): Promise<void> {
  const desk = await openDesk();
  for (const { name, viewport } of sizes) {
    for (const colorScheme of themes) {
      const tab = await started.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
      await tab.goto(desk.url);
      const shoot = async (what: string) => {
        await tab.waitForTimeout(600);
        await tab.screenshot({ path: join(into, `console-${what}-${name}-${colorScheme}.png`) });
      };
      for (const [what, path] of Object.entries(desk.paths)) {
        await tab.goto(`${new URL(desk.url).origin}/console${path}`);
        await shoot(what);
      }
      await tab.goto(`${new URL(desk.url).origin}/console/inbox/${desk.editable}`);
      await tab.getByRole('button', { name: 'Edit' }).click();
      await tab.keyboard.press('End');
      await tab.keyboard.type('-b');
      await shoot('inbox-edit');
      await tab.goto(`${new URL(desk.url).origin}/console/inbox?tool=refund`);
      await tab.getByRole('checkbox', { name: 'Select refund' }).first().check();
      await tab.getByRole('button', { name: /^Select \d+ listed$/ }).click();
      await tab.getByRole('button', { name: /^Compare/ }).click();
      await shoot('inbox-several');
      await tab.close();
    }
  }
  await desk.close();
}

async function takeSite(started: Browser, into: string): Promise<void> {
  const site = mkdtempSync(join(tmpdir(), 'site-'));
  const root = join(import.meta.dirname, '../..');
  const eleventy = join(root, 'node_modules/@11ty/eleventy/cmd.cjs');
  const options = ['--config=build/site/eleventy.config.ts', '--quiet', `--output=${site}`];
  execFileSync(process.execPath, [eleventy, ...options], { cwd: root, stdio: 'inherit' });
  for (const { name, viewport } of sizes) {
    for (const colorScheme of themes) {
      const tab = await started.newPage({ viewport, colorScheme });
      for (const file of sitePages) {
        await tab.goto(pathToFileURL(join(site, `${file}.html`)).href);
        await tab.screenshot({ path: join(into, `site-${basename(file)}-${name}-${colorScheme}.png`) });
      }
      await tab.close();
    }
  }
}

async function writeSamples(): Promise<string[]> {
  const made = mkdtempSync(join(tmpdir(), 'pages-'));
  const pages = Object.entries(samples).map(([name, run]) => ({ file: join(made, `${name}.html`), run }));
  for (const { file, run } of pages) await writePage(file, run);
  return pages.map(({ file }) => file);
}

async function takePictures(started: Browser, file: string, into: string): Promise<void> {
  for (const { name, viewport } of sizes) {
    for (const colorScheme of themes) {
      const tab = await started.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
      await tab.goto(pathToFileURL(file).href);
      const path = (part: string) =>
        join(into, `${basename(file, '.html')}-${name}-${colorScheme}${part}.png`);
      await tab.screenshot({ path: path('') });
      await tab.evaluate('document.querySelector(".cases").scrollIntoView()');
      await tab.screenshot({ path: path('-list') });
      await tab.keyboard.press('j');
      await tab.keyboard.press('Enter');
      await tab.screenshot({ path: path('-case') });
      await tab.close();
    }
  }
}
