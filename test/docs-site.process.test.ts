import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { globSync } from 'tinyglobby';
import { beforeAll, expect, test } from 'vitest';
import { addressOf } from '../build/site/markdown.ts';
import redirects from '../build/site/redirects.json' with { type: 'json' };
import { launchBrowser, noBrowser } from './browser.ts';

const root = join(import.meta.dirname, '..');
const site = mkdtempSync(join(tmpdir(), 'docs-site-'));
const repository = addressOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).repository.url);

beforeAll(() => {
  const program = join(root, 'node_modules/@11ty/eleventy/cmd.cjs');
  const options = ['--config=build/site/eleventy.config.ts', '--quiet', `--output=${site}`];
  execFileSync(process.execPath, [program, ...options], { cwd: root, stdio: 'pipe' });
}, 60_000);

const allIn = (folder: string, pattern: string) => globSync(pattern, { cwd: folder }).toSorted();
const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`<[^>]* ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** Dead links of a page. Links to the repository must name files of this one. */
function deadLinksOf(page: string): string[] {
  return attributes(readFileSync(join(site, page), 'utf8'), '(?:href|src)').filter((target) => {
    const [path = '', anchor] = decodeURI(target).split('#');
    if (path.startsWith(`${repository}/blob/main/`))
      return !existsSync(join(root, path.slice(`${repository}/blob/main/`.length)));
    if (/^\w+:/.test(path)) return false;
    const file = path === '' ? page : join(dirname(page), path);
    if (file.startsWith('..') || !existsSync(join(site, file))) return true;
    return anchor !== undefined && !attributes(readFileSync(join(site, file), 'utf8'), 'id').includes(anchor);
  });
}

test('has each page of docs/, and no link of it is dead', () => {
  const pages = allIn(join(root, 'docs'), '**/*.md').map((page) =>
    page.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html'),
  );
  const earlier = Object.keys(redirects);
  expect(allIn(site, '**/*.html')).toEqual([...pages, ...earlier].toSorted());
  expect(
    [...pages, ...earlier].flatMap((page) => deadLinksOf(page).map((target) => `${page}: ${target}`)),
  ).toEqual([]);
});

test('names every page of docs/ but decisions in the contents, and says which is shown', () => {
  const html = readFileSync(join(site, 'reference/protocols/claude.html'), 'utf8');
  const pages = allIn(site, '**/*.html').filter(
    (page) => page !== 'index.html' && !(page in redirects) && !page.includes('decisions/'),
  );
  const [, contents = ''] = /<nav[^>]*>([\s\S]*?)<\/nav>/.exec(html) ?? [];
  const named = attributes(contents, 'href').map((target) => join('reference/protocols', target));
  expect(pages.filter((page) => !named.includes(page))).toEqual([]);
  expect(contents).toMatch(/href="\.\.\/\.\.\/reference\/protocols\/claude\.html" aria-current="page"/);
});

test('leaves braces of other languages as they are', () => {
  expect(readFileSync(join(site, 'reference/promptfoo.html'), 'utf8')).toContain('{{name.member}}');
});

test.skipIf(noBrowser !== undefined)(
  'finds by words, and goes there by keys alone, from a disk too',
  async () => {
    const browser = await launchBrowser();
    const page = await browser.newPage();
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(pathToFileURL(join(site, 'reference/protocols/claude.html')).href);
    await page.keyboard.press('/');
    await page.keyboard.type('promptfooconfig');
    await page.waitForSelector('#found a');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/move-from-promptfoo\.html/);
    expect(await page.locator('h1').textContent()).toBe('Move from promptfoo');
    expect(errors).toEqual([]);
    await browser.close();
  },
);
