import type { Module } from '../source.ts';
import type { Requirement } from './requirement.ts';

export interface Citation {
  readonly file: string;
  /** As written: `PK-3-01@oneshot`, `PK-3-18@both`, `PK-9-01`. */
  readonly cite: string;
}

/** The citations in string literals. Comments are ignored. */
export function citationsIn(modules: readonly Module[]): Citation[] {
  return modules.flatMap(({ file, strings }) =>
    strings.flatMap((string) =>
      [...string.matchAll(/\b(?:PK|DS|PC|CH|CC|AO)-[A-Z0-9]+-\d+(?:@\w*)?/g)].map(([cite]) => ({
        file,
        cite,
      })),
    ),
  );
}

/** Malformed or duplicate ids. */
export function badIds(requirements: readonly Requirement[]): string[] {
  return requirements
    .map(({ id }) => id)
    .filter(
      (id, index, all) =>
        !/^((PK|PC|CH|CC|AO)-\d{1,2}|DS-[A-Z]+)-\d{2}$/.test(id) || all.indexOf(id) !== index,
    );
}

/**
 * Sources other than a page of docs/ or a numbered section of docs/reference/protocols/. `pages` are texts by their
 * path below docs/.
 */
export function badSources(
  requirements: readonly Requirement[],
  pages: Readonly<Record<string, string>>,
): string[] {
  const sources = new Set(requirements.map(({ source }) => source));
  return [...sources].filter((source) => {
    const [page = '', section] = source.split(' §');
    if (section === undefined) return pages[page] === undefined;
    return !sectionsOf(pages[`reference/protocols/${page}`] ?? '').includes(section);
  });
}

/** The numbers of headings: `## 6. Hooks` is 6, `### 6.1 Payloads` is 6.1. */
function sectionsOf(page: string): string[] {
  return [...page.matchAll(/^##+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number);
}

/** Citations of a missing row, or of a transport that the row does not have. */
export function badCitations(requirements: readonly Requirement[], citations: readonly Citation[]): string[] {
  return citations.flatMap(({ file, cite }) => {
    const [id, transport] = cite.split('@');
    const row = requirements.find((candidate) => candidate.id === id);
    if (row === undefined) return [`${file} cites ${cite}: there is no such row`];
    const cells = cellsOf(row);
    if (transport === 'both' ? cells.length === 2 : cells.includes(cite)) return [];
    return [`${file} cites ${cite}: the row has ${cells.join(' and ')}`];
  });
}

/** `@both` in the brackets of a title. A test runs on one transport and must name it. */
export function vagueTitles(modules: readonly Module[]): string[] {
  return modules.flatMap(({ file, strings }) =>
    strings.filter((string) => /\[[^\]]*@both/.test(string)).map((string) => `${file}: ${string}`),
  );
}

/** A line for every cell without a citation, in manifest order. */
export function uncited(requirements: readonly Requirement[], citations: readonly Citation[]): string[] {
  const cited = new Set(citations.flatMap(({ cite }) => expand(cite)));
  return requirements.flatMap((row) =>
    cellsOf(row)
      .filter((cell) => !cited.has(cell))
      .map((cell) => `${cell.padEnd(19)} ${row.sentence} (${row.source}, ${row.dialect})`),
  );
}

function expand(cite: string): string[] {
  if (cite.endsWith('@both')) return ['oneshot', 'server'].map((on) => cite.replace('both', on));
  if (cite.endsWith('@oneshot+http'))
    return ['oneshot', 'http'].map((on) => cite.replace('oneshot+http', on));
  return [cite];
}

function cellsOf({ id, cells }: Requirement): string[] {
  return cells === 'none' ? [id] : expand(`${id}@${cells}`);
}
