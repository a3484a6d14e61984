import { formatCount } from '../../text/format-count.ts';
import { box, fold, link, list, table, text } from '../report/html/plain/markup.ts';
import { renderPlainPage } from '../report/html/plain/page.ts';
import { addressOfRun } from '../report/html/plain/runs-page.ts';
import { formatListed, formatMean, formatPercent } from '../report/numbers.ts';
import { describeScore } from '../report/wording.ts';
import type { Change, Comparison, SideInfo, SideResult } from './comparison.ts';
import { describeShadows, isShadowComparison, shadowLists, shadowRows, shadowTitles } from './shadows.ts';
import {
  describeP,
  describeScores,
  describeSide,
  describeUnpaired,
  describeUnscored,
  guardMeasures,
  guardRows,
  type NamedDifference,
  namedRows,
  summarizeDifference,
} from './wording.ts';

/**
 * A comparison as one page without a script or any other file; texts of others are text in it. `home` is where it links back to. Throws
 * INTERNAL when the page was not built.
 */
export function renderComparisonHtml(
  comparison: Comparison,
  { home }: { readonly home?: string } = {},
): string {
  const isShadows = isShadowComparison(comparison);
  const title = isShadows ? 'Shadows compared' : 'Evals compared';
  const sections = isShadows ? shadowSections(comparison) : runSections(comparison, home !== undefined);
  return renderPlainPage({
    title: `${nameOfRuns(comparison)}: ${title.toLowerCase()}`,
    heading: title,
    ...(home !== undefined && { home }),
    facts: `<dl class="facts">${side('A', comparison.a)}${side('B', comparison.b)}</dl>`,
    sections,
  });
}

function nameOfRuns({ a, b }: Comparison): string {
  return a.suite === b.suite ? a.suite : `${a.suite}, ${b.suite}`;
}

function side(name: string, info: SideInfo): string {
  return `<div><dt>${name}</dt><dd>${text(describeSide(info))}<br><small>${text(info.started_at)}</small></dd></div>`;
}

/** Where the page is served, a case is a link to the page of its run. */
function runSections(comparison: Comparison, isServed: boolean): string[] {
  const rows = namedRows(comparison);
  const unpaired = describeUnpaired(comparison);
  return [
    box('Differences', table(titles, rows.map(toCells))),
    list(rows.map(({ name, difference }) => `${name}: ${summarizeDifference(difference).join('; ')}`)),
    list(unpaired),
    guardTable(comparison),
    ...rows.map((row) => changesOf(row, comparison, isServed)),
  ];
}

function shadowSections(comparison: Comparison): string[] {
  return [
    box(
      'Differences',
      table(
        shadowTitles,
        shadowRows(comparison).map((row) => row.map(text)),
      ),
    ),
    list([...describeShadows(comparison), ...describeUnpaired(comparison)]),
    ...shadowLists(comparison).map(({ title, lines }) => fold(title, list(lines))),
  ];
}

const titles = [
  ...[
    'Eval',
    'Pairs',
    'A passed',
    'B passed',
    'p of verdicts',
    'Regressions',
    'Improvements',
    'Flaky',
    'Unscored',
  ],
  ...['A mean', 'B mean', 'B − A (95 %)', 'p of scores'],
];

function toCells({ name, difference }: NamedDifference): string[] {
  const { pairs, pass_rate: rate, p_value: p, regressions, improvements, flaky, score } = difference;
  return [
    text(name),
    String(pairs),
    formatPercent(rate.a),
    formatPercent(rate.b),
    text(describeP(p)),
    regressions === 0 ? '0' : `<strong class="bad">${regressions}</strong>`,
    String(improvements),
    String(flaky),
    text(describeUnscored(difference) || '0'),
    formatMean(score?.mean_a ?? null),
    formatMean(score?.mean_b ?? null),
    text(describeScores(difference) || '–'),
    text(describeP(score?.p_value ?? null)),
  ];
}

function guardTable({ evals }: Comparison): string {
  const rows = guardRows(evals).map(({ name, classified }) => [
    text(name),
    ...guardMeasures.map((measure) => formatMean(classified[measure])),
  ]);
  return rows.length === 0 ? '' : box('Guards', table(['Guard', ...guardMeasures], rows));
}

/** The cases whose verdict changed, both sides beside each other. */
function changesOf({ name, difference }: NamedDifference, { a, b }: Comparison, isServed: boolean): string {
  const { regressions, improvements, first_regressions: worse, first_improvements: better } = difference;
  const linkTo = (side: 'a' | 'b', number: number, label: string) =>
    isServed ? link(`${addressOfRun({ a, b }[side].run_id)}#case=${number}`, label) : text(label);
  return [
    changeList(`${formatListed(regressions, 'regression', worse.length)} of ${name}`, worse, linkTo),
    changeList(`${formatListed(improvements, 'improvement', better.length)} of ${name}`, better, linkTo),
  ].join('');
}

function changeList(
  title: string,
  changes: readonly Change[],
  linkTo: (side: 'a' | 'b', number: number, label: string) => string,
): string {
  if (changes.length === 0) return '';
  const rows = changes.map(({ case: id, question, a, b }) => [
    linkTo('b', b.number, id) + (question === undefined ? '' : `<br><small>${text(question)}</small>`),
    sideCell(a, linkTo('a', a.number, `${a.file}:${a.line}`)),
    sideCell(b, linkTo('b', b.number, `${b.file}:${b.line}`)),
  ]);
  return fold(title, table(['Case', 'A', 'B'], rows, 'words'));
}

function sideCell({ score, detail }: SideResult, place: string): string {
  const shown = detail.slice(0, LONGEST_DETAIL);
  const cut = detail.length - shown.length;
  const more = cut === 0 ? '' : `<br><small>and ${formatCount(cut, 'more character')}</small>`;
  return `${text(describeScore({ score, detail: shown }))}${more}<br><small>${place}</small>`;
}

const LONGEST_DETAIL = 4_000;
