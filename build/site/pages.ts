import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { Anchors } from './anchors.ts';

/** A section of the contents: a heading of docs/README.md and the pages that its questions link to. */
interface Part {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly url: string; readonly about: string }[];
}

/** A search result: the text under one heading. */
interface Section {
  /** The path relative to the root of the site. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  /** The page's question in docs/README.md, set on its first section. */
  readonly question: string;
  readonly text: string;
}

/** Returns the pages of docs/, with paths relative to it. */
function pagesIn(docs: string): string[] {
  return globSync('**/*.md', { cwd: docs }).toSorted();
}

/** Returns the pages that docs/README.md lists, in order. `about` is the question that the page answers. */
export function contentsOf(docs: string): Part[] {
  return readPage(docs, 'README.md')
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.split('\n', 1)[0] ?? '',
      pages: [...part.matchAll(/^- \[(.*)\]\((.*\.md)\)$/gm)].map(([, about = '', file = '']) => ({
        title: titleOf(readPage(docs, file)),
        url: urlOf(file),
        about,
      })),
    }));
}

/** Returns the sections of all pages with their Markdown text. */
export function sectionsIn(docs: string): Section[] {
  const questions = new Map(
    contentsOf(docs).flatMap(({ pages }) => pages.map(({ url, about }) => [url, about] as const)),
  );
  return pagesIn(docs)
    .filter((file) => file !== 'README.md')
    .flatMap((file) => sectionsOf(docs, file, questions.get(urlOf(file)) ?? ''));
}

function sectionsOf(docs: string, file: string, question: string): Section[] {
  const text = readPage(docs, file);
  const anchors = new Anchors();
  const page = titleOf(text);
  return text.split(/^(?=#+ )/m).flatMap((section) => {
    const [, heading, body] = /^#+ (.*)\n([\s\S]*)$/.exec(section) ?? [];
    if (heading === undefined || body === undefined) return [];
    return [
      {
        id: `${urlOf(file)}#${anchors.next(heading)}`,
        page,
        heading,
        question: heading === page ? question : '',
        text: body.replaceAll(/[`*|]|\]\([^)]*\)/g, ' '),
      },
    ];
  });
}

function urlOf(file: string): string {
  return file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1] ?? '';
}

function readPage(docs: string, file: string): string {
  return readFileSync(join(docs, file), 'utf8');
}
