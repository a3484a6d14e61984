import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished } from 'vitest';
import { launchBrowser, noBrowser } from '../browser.ts';

interface Tab {
  readonly page: Page;
  /** Dialogs, errors, messages of the browser's console, policy violations, and requests to other servers. */
  readonly offences: string[];
}

interface TabOptions extends BrowserContextOptions {
  /** Below /console. */
  readonly path?: string;
  /** Null: none. */
  readonly key: string | null;
}

export type OpenTab = (origin: string, options: TabOptions) => Promise<Tab>;

/** Tests that need a browser. Without one they are skipped, and the title says why. */
export function describeInBrowser(tests: (openTab: OpenTab) => void): void {
  const title = noBrowser === undefined ? 'in a browser' : `in a browser, skipped: ${noBrowser}`;
  describe.skipIf(noBrowser !== undefined)(title, () => {
    let browser: Promise<Browser> | undefined;
    afterAll(async () => await (await browser)?.close());
    tests(async (origin, { path = '', key, ...options }) => {
      browser ??= launchBrowser();
      const context = await (await browser).newContext({
        viewport: { width: 1440, height: 900 },
        ...options,
      });
      onTestFinished(async () => await context.close());
      const page = await context.newPage();
      const offences = watch(page, origin);
      await page.goto(`${origin}/console${path}${key === null ? '' : `#key=${key}`}`);
      return { page, offences };
    });
  });
}

function watch(page: Page, origin: string): string[] {
  const offences: string[] = [];
  page.on('dialog', async (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('pageerror', (error) => offences.push(`error: ${error.message}`));
  page.on('console', (message) => offences.push(`console: ${message.text()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) offences.push(`request: ${request.url()}`);
  });
  return offences;
}

/** The sizes and themes in which each state of the page has to be accessible: narrow, wide, and wide at 200 % zoom. */
export const looks = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
  { width: 720, height: 450 },
].flatMap((viewport) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    name: `${viewport.width} pixels, ${colorScheme}`,
    options: { viewport, colorScheme, reducedMotion: 'reduce' as const },
  })),
);

/** Violations that axe-core finds, with the elements. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    );
  });
  expect(found).toEqual([]);
}

/** The same in all looks, one after another. */
export async function expectAccessibleInAllLooks(page: Page): Promise<void> {
  for (const { options } of looks) {
    await page.setViewportSize(options.viewport);
    await page.emulateMedia(options);
    await expectAccessible(page);
  }
}
