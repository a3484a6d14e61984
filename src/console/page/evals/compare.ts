import { type Child, factList, fold, foreign, make } from '../../../base/page/dom.ts';
import { counted } from '../../../base/page/format.ts';
import type { Reply } from '../api.ts';
import type { Page } from '../section.ts';
import { linkToRun, makeTable } from './parts.ts';

type Comparison = Reply<'GET', '/evals/compare'>;
type Change = Comparison['changes'][number]['regressions']['changes'][number];
type Ids = { readonly a: string; readonly b: string };

export function renderComparison(page: Page, comparison: Comparison, ids: Ids): Child {
  const { title, isShadows, a, b, tables, unpaired, changes, lists } = comparison;
  const [differences, ...others] = tables;
  const conclusions = comparison.conclusions.flatMap(({ name, lines }) =>
    name === undefined ? lines : [`${name}: ${lines.join('; ')}`],
  );
  return [
    make('p', {}, make('a', { class: 'link', href: page.hrefOf('/evals') }, '‹ Runs')),
    make('h1', {}, title),
    factList([
      ['A', linkToRun(page, ids.a, foreign(a))],
      ['B', linkToRun(page, ids.b, foreign(b))],
    ]),
    make(
      'div',
      { class: 'summary' },
      differences !== undefined && tableBox(differences),
      isShadows ? listOf([...conclusions, ...unpaired]) : [listOf(conclusions), listOf(unpaired)],
      others.map(tableBox),
      changes.flatMap(({ name, regressions, improvements }) =>
        [regressions, improvements].map((each) =>
          changeTable(page, `${each.title} of ${name}`, each.changes, ids),
        ),
      ),
      lists.map(({ title: name, lines }) => boxed(name, listOf(lines))),
    ),
  ];
}

function tableBox({ name, columns, rows }: Comparison['tables'][number]) {
  const titles = columns.map(({ title, longTitle = title }) => longTitle);
  const cells = rows.map((row) =>
    columns.map(({ isBad, empty = '' }, index) => {
      const cell = foreign(row[index] || empty);
      return isBad === true && row[index] !== '0' ? make('strong', { class: 'bad' }, cell) : cell;
    }),
  );
  return make('div', { class: 'box' }, makeTable(name, titles, cells));
}

function boxed(title: string, content: Child) {
  const all = fold(foreign(title), true, content);
  all.classList.add('box');
  return all;
}

function listOf(lines: readonly string[]) {
  if (lines.length === 0) return null;
  const items = lines.map((line) => make('li', {}, foreign(line)));
  return make('ul', { class: 'problems' }, items);
}

function changeTable(page: Page, title: string, changes: readonly Change[], ids: Ids) {
  if (changes.length === 0) return null;
  const side = (which: 'a' | 'b', { number, file, line, score, detail }: Change['a']) => {
    const shown = detail.slice(0, 4_000);
    const left = detail.length - shown.length;
    return [
      make('p', {}, make('strong', {}, score === null ? 'unscored' : String(score)), ' ', foreign(shown)),
      left > 0 && make('small', {}, `and ${counted(left, 'more character')} `),
      make('small', {}, linkToRun(page, ids[which], foreign(`${file}:${line}`), number)),
    ];
  };
  const rows = changes.map(({ case: id, question, a, b }) => [
    [
      linkToRun(page, ids.b, foreign(id), b.number),
      question !== undefined && make('p', {}, make('small', {}, question)),
    ],
    side('a', a),
    side('b', b),
  ]);
  return boxed(title, makeTable(title, ['Case', 'A', 'B'], rows, 'words'));
}
