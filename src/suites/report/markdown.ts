import { escapeInvisibleLine as oneLine } from '../../base/text/escape-invisible.ts';
import { cut } from '../../base/text/width.ts';
import type { Failure, GateResult, RowProblem, SuiteReport } from '../record.ts';
import type { VariantReport } from '../run/stats-record.ts';
import {
  documentOf,
  matrixRows,
  outcomeColumns,
  outcomeRows,
  type ReportRow,
  type ReportTable,
} from './document.ts';
import { describeSeveral, writesAtEnd } from './reporter.ts';
import {
  bailedSentence,
  describeBounds,
  describeScore,
  describeTotals,
  explainTest,
  formatBeside,
  nameCase,
} from './wording.ts';

/** Writes a summary for a pull request comment or a GitHub job summary. */
export const openMarkdown = writesAtEnd((report, { isSeveral }) => {
  const [only] = report.outcomes;
  if (!isSeveral) return only !== undefined && 'report' in only ? renderMarkdown(only.report) : '';
  // A table of the suites, followed by the report of each while there is room.
  const titles = outcomeColumns.map(({ title }, index) => (index === 1 ? '' : title));
  const rows = outcomeRows(report);
  const lines = rows.map(({ suite, status, cells: [, ...cells] }) => [
    ...[shortCode(suite), marks[status], ...cells],
  ]);
  // Reserves room for the reports of the suites.
  const table = takeUpTo(renderTable(titles, lines, [2, 3, 4, 5, 6]), 40_000);
  let text = `${[`### ${marks[report.status]} ${describeSeveral(report)}`, '', ...table].join('\n')}\n`;
  for (const [index, { suite, fault = '' }] of rows.entries()) {
    const room = longestText - bytesOf(text) - bytesOf(cutNote) - 3;
    // A shorter report is not useful.
    if (room < 2_000) return `${text}\n${cutNote}\n`;
    const outcome = report.outcomes[index];
    text +=
      outcome !== undefined && 'report' in outcome
        ? `\n${renderMarkdown(outcome.report, room)}`
        : `\n### ${marks.error} ${shortCode(suite)}: error\n\n${longCode(fault)}\n`;
  }
  return text;
});

/** In bytes. GitHub limits a comment to 65,536 characters and the summaries of a step to 1 MiB. */
const longestText = 60_000;

/** `longest` is the maximum length in bytes of UTF-8. */
export function renderMarkdown(report: SuiteReport, longest: number = longestText): string {
  const { suite, status, bailed, totals, variants, failures } = report;
  const document = documentOf(report);
  const { counts, failureTitle, voids, badRows } = document;
  const verdict = [
    ...[`### ${marks[status]} ${shortCode(suite)}: ${status}`, '', `${counts.join(', ')}.`],
    ...(bailed ? ['', bailedSentence] : []),
    ...(totals === undefined ? [] : ['', `${describeTotals(totals)}.`]),
  ];
  const tables =
    variants === undefined
      ? [statsTable(document.statistics), guardTable(document.guards)]
      : [matrixTable(report, variants)];
  const sections: readonly (readonly string[])[] = [
    verdict,
    // Not folded, because nothing else counts in a void run.
    voids.length === 0 ? [] : ['**The run is invalid:**', '', ...voids.map(problemItem)],
    renderTable(['gate', 'metric', 'value', 'wanted', ''], report.gates.map(gateCells), [2]),
    ...tables,
    document.agreements.map(({ eval: id, words }) => `- ${shortCode(id)} and people: ${words}`),
    fold(failureTitle, failures.flatMap(failureItems)),
    fold(badRows.title, badRows.problems.map(problemItem)),
  ];
  let text = '';
  for (const lines of sections) {
    if (lines.length === 0) continue;
    const end = lines[0]?.startsWith('<details>') === true ? '\n\n</details>' : '';
    const kept = takeUpTo(lines, longest - bytesOf(text) - bytesOf(end) - bytesOf(cutNote) - 4);
    // Reserves room for the end only if something precedes it.
    if (kept.length === 0) return `${text}\n${cutNote}\n`;
    text += `${text === '' ? '' : '\n'}${kept.join('\n')}${end}\n`;
    if (kept.length < lines.length) return `${text}\n${cutNote}\n`;
  }
  return text;
}

const marks = { passed: '✅', failed: '❌', error: '⚠️' } as const;

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function takeUpTo(lines: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = lines.findIndex((line) => {
    left -= bytesOf(line) + 1;
    return left < 0;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function gateCells(gate: GateResult): string[] {
  const { eval: id, tag, variant, metric, value, min, max, passed, test, better_than: base = '' } = gate;
  const bound = value !== null && min !== null && value < min ? min : max;
  return [
    [id === undefined ? 'all cases' : shortCode(id), ...[tag, variant].map((part) => shortCode(part ?? ''))]
      .join(' ')
      .trim(),
    shortCode(metric),
    ...(test === undefined
      ? [value === null ? '–' : formatBeside(value, bound), describeBounds({ min, max })]
      : [longCode(explainTest(gate, test)), `better than ${shortCode(base)}`]),
    passed ? '✅' : '❌',
  ];
}

/** Combines mean and standard error, and omits the duration. */
function statsTable({ columns, rows }: ReportTable): string[] {
  const titles = columns.slice(0, 11).flatMap(({ title }) => (title === 'stderr' ? [] : title));
  const cells = rows.map(
    ({ kind, name, cells: [count = '', passed = '', rate = '', mean = '', ...more] }) => {
      const [stderr = '', ci95 = '', median = '', p10 = '', unscored = '', flaky = ''] = more;
      const error = stderr === '–' ? '' : ` ${stderr.replace('±', '± ')}`;
      return [
        nameOf({ kind, name }),
        ...[count, passed, rate, `${mean}${error}`, ci95, median, p10, unscored, flaky || '0'],
      ];
    },
  );
  return renderTable(titles, cells, numbersFrom1);
}

function guardTable({ columns, rows }: ReportTable): string[] {
  const titles = columns.flatMap(({ title }) => (title === 'caught' ? [] : title));
  const cells = rows.flatMap(({ kind, name, cells: [...cells] }) => {
    if (kind !== 'eval') return [];
    cells.splice(titles.indexOf('AUC'), 1);
    return [[nameOf({ kind, name }), ...cells.map((cell) => cell || '–')]];
  });
  return renderTable(titles, cells, numbersFrom1);
}

function nameOf({ kind, name }: Pick<ReportRow, 'kind' | 'name'>): string {
  if (kind === 'all') return name;
  return kind === 'tag' ? `└ ${shortCode(name)}` : shortCode(name);
}

const numbersFrom1 = [1, 2, 3, 4, 5, 6, 7, 8, 9];

function matrixTable(report: SuiteReport, variants: readonly VariantReport[]): string[] {
  const names = variants.map(({ name, status }) => `${shortCode(name)} ${marks[status]}`);
  const rows = matrixRows(report).map(({ name, measure, cells }) => [
    name === '' || name === 'answers' ? name : shortCode(name),
    measure,
    ...cells,
  ]);
  return renderTable(
    ['', '', ...names],
    rows,
    names.map((_, index) => index + 2),
  );
}

/** A folded list; empty without a title. The blank line enables Markdown inside. */
function fold(title: string, items: readonly string[]): string[] {
  return title === '' ? [] : [`<details><summary>${title}</summary>`, '', ...items];
}

function failureItems(failure: Failure, index: number, failures: readonly Failure[]): string[] {
  const { case: id, variant, file, line, eval: evalId } = failure;
  const before = failures[index - 1];
  const isSameRow = before?.line === line && before.file === file && before.case === id;
  const place = `- ${shortCode(`${file}:${line}`)} case ${shortCode(nameCase({ id, variant }))}`;
  return [
    `${place}, ${shortCode(evalId)}: ${longCode(describeScore(failure))}`,
    ...Object.entries(isSameRow ? {} : (failure.fields ?? {})).map(
      // An empty name would give no code span.
      ([name, text]) => `  - ${shortCode(name) || '(no name)'}: ${longCode(text)}`,
    ),
  ];
}

function problemItem({ file, line, message, hint }: RowProblem): string {
  const next = hint === undefined ? '' : ` – ${longCode(hint)}`;
  return `- ${shortCode(`${file}:${line}`)} ${longCode(message)}${next}`;
}

function shortCode(text: string): string {
  return toCode(cut(text, 100));
}

function longCode(text: string): string {
  return toCode(cut(text, 500));
}

/**
 * Formats a text as a one-line code span without markup, links or mentions. Works in table cells. Empty for an empty
 * text.
 */
export function toCode(text: string): string {
  const line = oneLine(text.toWellFormed());
  if (line === '') return '';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const inner = line.startsWith('`') || line.endsWith('`') ? ` ${line} ` : line;
  return `${fence}${escapePipes(inner)}${fence}`;
}

/** Renderers disagree on two backslashes before a pipe, so there is never more than one. */
function escapePipes(text: string): string {
  return text.replaceAll(/\\(?=\|)/g, '\\ ').replaceAll('|', '\\|');
}

/** The end of a text that was cut. */
export const cutNote = '_The rest is left out, because the length of this text is limited._';

/** Right-aligns the columns with the given indices. Empty without rows. */
export function renderTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = titles.map((_title, index) => (right.includes(index) ? '---:' : '---'));
  return [line(titles), line(rule), ...rows.map(line)];
}
