import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Anchors } from './anchors.ts';

const root = join(import.meta.dirname, '../..');

/** The parts of markdown-it that are used. */
interface Token {
  readonly type: string;
  readonly content: string;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface Markdown {
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (state: { readonly tokens: readonly Token[]; readonly env: Env }) => void,
      ): void;
    };
  };
}

interface Env {
  readonly page: { readonly inputPath: string };
}

/**
 * Gives headings the anchors that GitHub generates, and resolves links as GitHub does: to pages of the site, or to the
 * repository.
 */
export function useOwnLinks(markdown: Markdown): void {
  const repository = addressOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).repository.url);
  markdown.core.ruler.push('signalbox_links', ({ tokens, env }) => {
    const anchors = new Anchors();
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open') token.attrSet('id', anchors.next(textOf(tokens[index + 1])));
      for (const link of token.children ?? []) {
        const target = link.type === 'link_open' ? link.attrGet('href') : null;
        if (target) link.attrSet('href', addressIn(env.page.inputPath, target, repository));
      }
    }
  });
}

function textOf(heading: Token | undefined): string {
  return (heading?.children ?? []).map(({ content }) => content).join('');
}

/** Converts `git+https://HOST/OWNER/NAME.git` to a URL for browsers. */
export function addressOf(url: string): string {
  return url.replace(/^git\+/, '').replace(/\.git$/, '');
}

function addressIn(page: string, target: string, repository: string): string {
  if (/^\w+:|^#/.test(target)) return target;
  const [file = '', anchor] = target.split('#');
  const path = relative(root, join(root, dirname(page), file));
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (path.startsWith('..')) return `${repository}/${file.replace(/^(?:\.\.\/)+/, '')}${fragment}`;
  if (!path.startsWith('docs/')) return `${repository}/blob/main/${path}${fragment}`;
  return `${file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')}${fragment}`;
}
