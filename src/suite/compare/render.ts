import { escapeShownLine as oneLine } from '../../text/escape-commands.ts';
import { cut } from '../../text/width.ts';
import { formatMean, formatPercent } from '../report/numbers.ts';
import { type Column, type GridRow, type GridView, renderGrid, toReadable } from '../report/terminal/grid.ts';
import { createPaint } from '../report/terminal/paint.ts';
import type { Change, Comparison } from './comparison.ts';
import { describeShadows, isShadowComparison, shadowLists, shadowRows, shadowTitles } from './shadows.ts';
import {
  describeChange,
  describeP,
  describeRegressions,
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

/** A comparison for people: several lines, each ended, none wider than so many columns. */
export function renderComparison(comparison: Comparison, colour: boolean, columns?: number): string {
  const view: GridView = { paint: createPaint(colour), columns: toReadable(columns) };
  const sides = [`A: ${describeSide(comparison.a)}`, `B: ${describeSide(comparison.b)}`];
  const sections = [
    sides.map((line) => toWidth(oneLine(line), view)),
    ...(isShadowComparison(comparison) ? shadowSections(comparison, view) : runSections(comparison, view)),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function runSections(comparison: Comparison, view: GridView): string[][] {
  const rows = namedRows(comparison);
  return [
    renderGrid(rowColumns, rows.map(toRow), view),
    guardLines(comparison, view),
    rows.flatMap((row) => conclusion(row, view)),
    describeUnpaired(comparison).map((line) => toWidth(oneLine(line), view)),
    ...rows.map((row) => regressionLines(row, view)),
  ];
}

function shadowSections(comparison: Comparison, view: GridView): string[][] {
  const rows = shadowRows(comparison).map((cells) => ({ style: 'bold' as const, cells }));
  return [
    rows.length === 0 ? [] : renderGrid(shadowColumns, rows, view),
    describeShadows(comparison).map((line) => toWidth(line, view)),
    describeUnpaired(comparison).map((line) => toWidth(oneLine(line), view)),
    ...shadowLists(comparison).map(({ title, lines }) => [
      view.paint('bold', toWidth(`${title}:`, view)),
      ...lines.map((line) => toWidth(`  ${line}`, view)),
    ]),
  ];
}

const shadowColumns: readonly Column[] = shadowTitles.map((title, index) => ({ title, priority: -index }));

const rowColumns: readonly Column[] = [
  { title: 'eval', priority: 12 },
  { title: 'pairs', priority: 7 },
  { title: 'A passed', priority: 11 },
  { title: 'B passed', priority: 11 },
  { title: 'p', priority: 8 },
  { title: 'regressions', priority: 10 },
  { title: 'improvements', priority: 6 },
  { title: 'flaky', priority: 4 },
  { title: 'unscored', priority: 5 },
  { title: 'A mean', priority: 2 },
  { title: 'B mean', priority: 2 },
  { title: 'B − A (95 %)', priority: 3 },
  { title: 'p', priority: 1 },
];

function toRow({ name, difference }: NamedDifference): GridRow {
  const { pairs, pass_rate, p_value: p, regressions, improvements, flaky, score } = difference;
  return {
    style: 'bold',
    cells: [
      oneLine(name),
      String(pairs),
      formatPercent(pass_rate.a),
      formatPercent(pass_rate.b),
      describeP(p),
      String(regressions),
      String(improvements),
      flaky === 0 ? '' : String(flaky),
      describeUnscored(difference),
      formatMean(score?.mean_a ?? null),
      formatMean(score?.mean_b ?? null),
      describeScores(difference),
      describeP(score?.p_value ?? null),
    ],
  };
}

const guardColumns: readonly Column[] = ['guard', ...guardMeasures].map((title, index) => ({
  title,
  priority: -index,
}));

function guardLines({ evals }: Comparison, view: GridView): string[] {
  const rows = guardRows(evals).map(({ name, classified }) => ({
    style: 'bold' as const,
    cells: [oneLine(name), ...guardMeasures.map((measure) => formatMean(classified[measure]))],
  }));
  return rows.length === 0 ? [] : renderGrid(guardColumns, rows, view);
}

function conclusion({ name, difference }: NamedDifference, view: GridView): string[] {
  const lines = summarizeDifference(difference).map((line) => toWidth(`  ${line}`, view));
  return [view.paint('bold', toWidth(oneLine(name), view)), ...lines];
}

function regressionLines({ name, difference }: NamedDifference, view: GridView): string[] {
  const { regressions, first_regressions: first } = difference;
  if (regressions === 0) return [];
  return [
    view.paint('red', toWidth(`${oneLine(name)}: ${describeRegressions(difference)}:`, view)),
    ...first.map((change) => toWidth(`  ${changeLine(change)}`, view)),
  ];
}

/** What a person reads of one text in a list. */
const longestText = 160;

function changeLine(change: Change): string {
  const { file, line } = change.b;
  return `${oneLine(file)}:${line}  ${cut(oneLine(`case ${change.case}: ${describeChange(change)}`), longestText)}`;
}

function toWidth(line: string, { columns: room }: GridView): string {
  return cut(line, room ?? Number.POSITIVE_INFINITY);
}
