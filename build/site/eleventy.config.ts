import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { useOwnLinks } from './markdown.ts';
import { contentsOf, sectionsIn } from './pages.ts';
import redirects from './redirects.json' with { type: 'json' };

/** The parts of Eleventy's configuration that are used; its package has no type declarations. */
interface SiteConfig {
  addGlobalData(name: string, value: unknown): void;
  addPassthroughCopy(paths: Record<string, string>): void;
  addWatchTarget(folder: string): void;
  amendLibrary(name: 'md', change: typeof useOwnLinks): void;
  on(
    event: 'eleventy.after',
    run: (written: { readonly directories: { readonly output: string } }) => void,
  ): void;
}

/**
 * Configures the site of docs/: one page per file, a sidebar with the contents of docs/README.md, and a search in the
 * browser.
 */
export default function site(config: SiteConfig) {
  const docs = join(import.meta.dirname, '../../docs');
  config.amendLibrary('md', useOwnLinks);
  config.addWatchTarget(import.meta.dirname);
  config.addGlobalData('layout', 'page.liquid');
  config.addGlobalData('contents', () => contentsOf(docs));
  config.addGlobalData(
    'permalink',
    () =>
      ({ page }: { readonly page: { readonly filePathStem: string } }) =>
        `${page.filePathStem.replace(/README$/, 'index')}.html`,
  );
  config.addGlobalData('eleventyComputed', {
    title: ({ page }: { readonly page: { readonly rawInput: string } }) =>
      /^# (.*)$/m.exec(page.rawInput)?.[1],
    root: ({ page }: { readonly page: { readonly filePathStem: string } }) =>
      '../'.repeat(page.filePathStem.split('/').length - 2),
  });
  config.addPassthroughCopy({
    'docs/pictures': 'pictures',
    'build/site/style.css': 'style.css',
    'build/site/search.js': 'search.js',
    'build/site/search-options.js': 'search-options.js',
    'node_modules/minisearch/dist/umd/index.js': 'minisearch.js',
  });
  config.on('eleventy.after', ({ directories }) => {
    const sections = sectionsIn(docs);
    writeFileSync(
      join(directories.output, 'sections.js'),
      `globalThis.sections = ${JSON.stringify(sections)};\n`,
    );
    for (const [from, to] of Object.entries(redirects)) {
      const file = join(directories.output, from);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, redirectTo(relative(dirname(from), to)));
    }
  });
  return {
    dir: { input: 'docs', output: 'site', includes: '../build/site' },
    templateFormats: ['md'],
    // Pages contain braces of other template languages.
    markdownTemplateEngine: false,
  };
}

/** Returns a page for an old URL that redirects to the current one. */
function redirectTo(url: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="0; url=${url}">
<p>This page is now <a href="${url}">${url}</a>.</p>
</html>
`;
}
