import { escapeShownLine as oneLine } from '../../base/text/escape-commands.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { cut } from '../../base/text/width.ts';
import { box, fold, table as htmlTable, list, renderPlainPage, text } from '../report/html/plain.ts';
import { cutNote, renderTable as markdownTable, toCode } from '../report/markdown.ts';
import { joinSections, openView, renderGrid } from '../report/terminal/grid.ts';
import { describeScore } from '../report/wording.ts';
import type { Change, Comparison, SideInfo, SideResult } from './comparison.ts';
import { type ComparisonTable, type NamedChanges, toDocument } from './document.ts';

/** Renders a comparison as text lines, none wider than `columns`. Each line ends in a newline. */
export function renderComparison(comparison: Comparison, colour: boolean, columns?: number): string {
  const document = toDocument(comparison);
  const view = openView(colour, columns);
  const { paint } = view;
  const toWidth = (line: string) => cut(line, view.columns);
  return joinSections([
    [`A: ${document.a}`, `B: ${document.b}`].map((line) => toWidth(oneLine(line))),
    ...document.tables.map(({ columns, rows }) =>
      renderGrid(
        columns,
        rows.map((cells) => ({ style: 'bold', cells: cells.map(oneLine) })),
        view,
      ),
    ),
    document.conclusions.flatMap(({ name, lines }) =>
      name === undefined
        ? lines.map(toWidth)
        : [paint('bold', toWidth(oneLine(name))), ...lines.map((line) => toWidth(`  ${line}`))],
    ),
    document.unpaired.map((line) => toWidth(oneLine(line))),
    ...document.changes.map(({ name, regressions: { title, changes } }) =>
      changes.length === 0
        ? []
        : [
            paint('red', toWidth(`${oneLine(name)}: ${title}:`)),
            ...changes.map((change) => toWidth(`  ${changeLine(change)}`)),
          ],
    ),
    ...document.lists.map(({ title, lines }) => [
      paint('bold', toWidth(`${title}:`)),
      ...lines.map((line) => toWidth(`  ${line}`)),
    ]),
  ]);
}

function changeLine(change: Change): string {
  const { file, line } = change.b;
  return `${oneLine(file)}:${line}  ${cut(oneLine(`case ${change.case}: ${describeChange(change)}`), 160)}`;
}

function describeChange({ a, b }: Change): string {
  return `${describeScore({ ...a, detail: '' })} → ${describeScore(b)}`;
}

/** Renders a comparison as GitHub Markdown of at most 60,000 characters. GitHub limits comments to 65,536. */
export function renderComparisonMarkdown(comparison: Comparison): string {
  const { title, isShadows, a, b, ...document } = toDocument(comparison);
  const conclusions = document.conclusions.flatMap(({ name, lines }) =>
    name === undefined ? lines.map((line) => `- ${line}`) : [`- ${shortCode(name)}: ${lines.join('; ')}`],
  );
  const unpaired = document.unpaired.map((line) => `- ${isShadows ? line : toCode(line)}`);
  const sections = [
    [`### ${title}`, '', `A: ${toCode(a)}\\`, `B: ${toCode(b)}`],
    ...document.tables.map(tableLines),
    ...(isShadows ? [[...conclusions, ...unpaired]] : [conclusions, unpaired]),
    ...document.changes.map(regressionLines),
    ...document.lists.map(({ title, lines }) => [
      `${title}:`,
      '',
      ...lines.map((line) => `- ${toCode(line)}`),
    ]),
  ];
  let shown = '';
  for (const lines of sections.filter((each) => each.length > 0)) {
    const more = `${shown === '' ? '' : '\n'}${lines.join('\n')}\n`;
    if (Buffer.byteLength(shown) + Buffer.byteLength(more) > 59_900) return `${shown}\n${cutNote}\n`;
    shown += more;
  }
  return shown;
}

function tableLines({ columns, rows }: ComparisonTable): string[] {
  const shown = [...columns.entries()].filter(([, { isExtra }]) => isExtra !== true);
  const isNamed = columns[0]?.title !== '';
  return markdownTable(
    shown.map(([, { title }]) => title),
    rows.map((cells) =>
      shown.map(([index, { empty = '' }]) => {
        const cell = cells[index] ?? '';
        return index === 0 && isNamed ? shortCode(cell) : (cell || empty).replace('<', '&lt;');
      }),
    ),
  );
}

function regressionLines({ name, regressions: { title, changes } }: NamedChanges): string[] {
  if (changes.length === 0) return [];
  const rows = changes.map((change) => [
    shortCode(change.case),
    shortCode(`${change.b.file}:${change.b.line}`),
    toCode(cut(describeChange(change), 240)),
  ]);
  // A summary is HTML. A code span is rendered only after a blank line.
  const head = ['<details><summary>', '', `${title} of ${shortCode(name)}`, '', '</summary>', ''];
  return [...head, ...markdownTable(['case', 'at', 'what changed'], rows), '', '</details>'];
}

function shortCode(value: string): string {
  return toCode(cut(value, 80));
}

/**
 * Renders a comparison as one self-contained HTML page without scripts. Foreign texts are escaped. Throws INTERNAL if the
 * page was not built.
 */
export function renderComparisonHtml(comparison: Comparison): string {
  const { title, isShadows, tables, ...document } = toDocument(comparison);
  const [differences, ...others] = tables;
  const { a, b } = comparison;
  const side = (name: string, words: string, { started_at }: SideInfo): string =>
    `<div><dt>${name}</dt><dd>${text(words)}<br><small>${text(started_at)}</small></dd></div>`;
  const conclusions = document.conclusions.flatMap(({ name, lines }) =>
    name === undefined ? lines : [`${name}: ${lines.join('; ')}`],
  );
  return renderPlainPage({
    title: `${a.suite === b.suite ? a.suite : `${a.suite}, ${b.suite}`}: ${title.toLowerCase()}`,
    heading: title,
    facts: `<dl class="facts">${side('A', document.a, a)}${side('B', document.b, b)}</dl>`,
    sections: [
      tableBox(differences),
      ...(isShadows
        ? [list([...conclusions, ...document.unpaired])]
        : [list(conclusions), list(document.unpaired)]),
      ...others.map(tableBox),
      ...document.changes.map(({ name, regressions, improvements }) =>
        [regressions, improvements]
          .map(({ title, changes }) => changeTable(`${title} of ${name}`, changes))
          .join(''),
      ),
      ...document.lists.map(({ title, lines }) => fold(title, list(lines))),
    ],
  });
}

function tableBox({ name, columns, rows }: ComparisonTable): string {
  const titles = columns.map(({ title, longTitle = title }) => longTitle);
  const cells = rows.map((row) =>
    columns.map(({ isText, isBad, empty = '' }, index) => {
      const cell = row[index] || empty;
      if (isBad === true && cell !== '0') return `<strong class="bad">${cell}</strong>`;
      return isText === true ? text(cell) : cell;
    }),
  );
  return box(name, htmlTable(titles, cells));
}

function changeTable(title: string, changes: readonly Change[]): string {
  if (changes.length === 0) return '';
  const rows = changes.map(({ case: id, question, a, b }) => [
    text(id) + (question === undefined ? '' : `<br><small>${text(question)}</small>`),
    sideCell(a),
    sideCell(b),
  ]);
  return fold(title, htmlTable(['Case', 'A', 'B'], rows, 'words'));
}

function sideCell({ score, detail, file, line }: SideResult): string {
  const shown = detail.slice(0, 4_000);
  const left = detail.length - shown.length;
  const more = left === 0 ? '' : `<br><small>and ${formatCount(left, 'more character')}</small>`;
  return `${text(describeScore({ score, detail: shown }))}${more}<br><small>${text(`${file}:${line}`)}</small>`;
}
