import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe } from 'vitest';
import { launchBrowser, noBrowser } from '../../../browser.ts';
import type { Run } from './samples.ts';
import { type Reported, writePage } from './write.ts';

export interface Opened {
  readonly page: Page;
  /** Dialogs, errors, console messages, policy violations, and requests to other addresses. */
  readonly offences: string[];
  goto(hash: string): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  readonly hash?: string;
  readonly largestPage?: number;
}

export type OpenReport = (
  run: Run | Reported | { readonly file: string },
  options?: OpenOptions,
) => Promise<Opened>;

/** Tests that need a browser. Without one they are skipped, and the title says why. */
export function describeInBrowser(tests: (open: OpenReport) => void): void {
  const title = noBrowser === undefined ? 'in a browser' : `in a browser, skipped: ${noBrowser}`;
  describe.skipIf(noBrowser !== undefined)(title, () => {
    const browser = openBrowser();
    afterAll(() => browser.close());
    tests(async (run, { hash = '', largestPage, ...options } = {}) => {
      const file = 'file' in run ? run.file : join(mkdtempSync(join(tmpdir(), 'report-')), 'report.html');
      if (!('file' in run)) await writePage(file, run, largestPage);
      const page = await browser.pageWith(options);
      const opened = { page, ...watch(page, pathToFileURL(file).href) };
      await opened.goto(hash);
      return opened;
    });
  });
}

/** One browser, started on first use, with one page for each set of options. */
function openBrowser() {
  let browser: Promise<Browser> | undefined;
  const pages = new Map<string, Promise<Page>>();
  const newPage = async (options: BrowserContextOptions): Promise<Page> => {
    browser ??= launchBrowser();
    const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    return context.newPage();
  };
  return {
    pageWith(options: BrowserContextOptions): Promise<Page> {
      const key = JSON.stringify(options);
      const page = pages.get(key) ?? newPage(options);
      pages.set(key, page);
      return page;
    },
    async close(): Promise<void> {
      await (await browser)?.close();
    },
  };
}

function watch(page: Page, url: string): Omit<Opened, 'page'> {
  const offences: string[] = [];
  page.removeAllListeners();
  page.on('dialog', async (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('pageerror', (error) => offences.push(`error: ${error.message}`));
  // The console reports violations of the policy.
  page.on('console', (message) => offences.push(`console: ${message.text()}`));
  page.on('request', (request) => {
    if (request.url().split(/[?#]/)[0] !== url) offences.push(`request: ${request.url()}`);
  });
  let visits = 0;
  const goto = async (hash: string): Promise<void> => {
    visits += 1;
    // The query forces a load; a change of the hash alone would not.
    await page.goto(`${url}?${visits}${hash === '' ? '' : `#${hash}`}`);
  };
  return { offences, goto };
}
