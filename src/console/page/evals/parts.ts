import { type Child, make, table } from '../../../base/page/dom.ts';
import type { Page } from '../section.ts';

/** A link that leaves the console for the page of a run. */
export function linkToRun(page: Page, id: string, label: Child, number?: number) {
  const fragment = number === undefined ? '' : `#case=${number}`;
  const href = `${page.hrefOf(`/evals/${encodeURIComponent(id)}`)}${fragment}`;
  return make('a', { class: 'link', href, target: '_self', title: id }, label);
}

export function statusPill(status: string) {
  return make('span', { class: `pill ${status}` }, status);
}

/** On a narrow screen each row is a block with the title beside each cell. */
export function makeTable(
  name: string,
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
  kind = 'figures',
) {
  const lines = rows.map(([first, ...cells]) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, first),
      cells.map((cell, index) => make('td', { 'data-title': heads[index + 1] ?? '' }, cell)),
    ),
  );
  const all = table(`${kind} blocks`, heads, lines);
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name }, all);
}
