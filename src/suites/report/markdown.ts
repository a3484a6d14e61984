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

/** A summary for the comment of a pull request, or for the summary of a GitHub job. */
export const openMarkdown = writesAtEnd((report, { isSeveral }) => {
  const [only] = report.outcomes;
  if (!isSeveral) return only !== undefined && 'report' in only ? renderMarkdown(only.report) : '';
  // A table of the suites and, as far as there is room, what each came to.
  const titles = outcomeColumns.map(({ title }, index) => (index === 1 ? '' : title));
  const rows = outcomeRows(report);
  const lines = rows.map(({ suite, status, cells: [, ...cells] }) => [
    ...[shortCode(suite), marks[status], ...cells],
  ]);
  // So that room is left for what the suites came to.
  const table = takeUpTo(renderTable(titles, lines, [2, 3, 4, 5, 6]), 40_000);
  let text = `${[`### ${marks[report.status]} ${describeSeveral(report)}`, '', ...table].join('\n')}\n`;
  for (const [index, { suite, fault = '' }] of rows.entries()) {
    const room = longestText - bytesOf(text) - bytesOf(cutNote) - 3;
    // With less there is nothing that could be read.
    if (room < 2_000) return `${text}\n${cutNote}\n`;
    const outcome = report.outcomes[index];
    text +=
      outcome !== undefined && 'report' in outcome
        ? `\n${renderMarkdown(outcome.report, room)}`
        : `\n### ${marks.error} ${shortCode(suite)}: error\n\n${longCode(fault)}\n`;
  }
  return text;
});

/** Bytes of a report; a comment on GitHub may have 65,536 characters, a summary 1 MiB for all of a step. */
const longestText = 60_000;

/** A report as a text of at most so many bytes of UTF-8. */
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
    // Not folded, since they outweigh everything else.
    voids.length === 0 ? [] : ['**The run is void:**', '', ...voids.map(problemItem)],
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
    // What an end would take is reserved only where something stands before it.
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

/** As many lines as have so many bytes. */
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

/** Mean and standard error stand in one column, and how long an eval took is left out. */
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

/** Of tags only the terminal shows how well guards do. */
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

/** The columns of numbers, which stand on the right. */
const numbersFrom1 = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** A column for each variant. */
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

/** A list that is folded away; none without a title. The blank line makes Markdown of what follows. */
function fold(title: string, items: readonly string[]): string[] {
  return title === '' ? [] : [`<details><summary>${title}</summary>`, '', ...items];
}

/** A failure, and the row that failed below the first of its failures. */
function failureItems(failure: Failure, index: number, failures: readonly Failure[]): string[] {
  const { case: id, variant, file, line, eval: evalId } = failure;
  const before = failures[index - 1];
  const isSameRow = before?.line === line && before.file === file && before.case === id;
  const place = `- ${shortCode(`${file}:${line}`)} case ${shortCode(nameCase({ id, variant }))}`;
  return [
    `${place}, ${shortCode(evalId)}: ${longCode(describeScore(failure))}`,
    ...Object.entries(isSameRow ? {} : (failure.fields ?? {})).map(
      // An empty name would leave no code span.
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
 * The text on one line as a code span, in which nothing is markup, a link or a mention; fit for a cell of a table.
 * Empty for an empty text.
 */
export function toCode(text: string): string {
  const line = oneLine(text.toWellFormed());
  if (line === '') return '';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const inner = line.startsWith('`') || line.endsWith('`') ? ` ${line} ` : line;
  return `${fence}${escapePipes(inner)}${fence}`;
}

/** Implementations do not agree on two backslashes before a pipe, so there is never more than one. */
function escapePipes(text: string): string {
  return text.replaceAll(/\\(?=\|)/g, '\\ ').replaceAll('|', '\\|');
}

/** What stands at the end of a text that had to be cut. */
export const cutNote = '_The rest is left out: this text may not be longer._';

/** The lines of a table, with the columns of those indices on the right; none when it has no rows. */
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
