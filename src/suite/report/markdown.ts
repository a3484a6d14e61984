import { formatCount } from '../../text/format-count.ts';
import { cut } from '../../text/width.ts';
import type { Classification, Failure, GateResult, RowProblem, Stats, SuiteReport } from '../run/record.ts';
import type { VariantReport } from '../run/variant-record.ts';
import { cutNote, renderTable, toCode } from './markdown-text.ts';
import { matrixRows } from './matrix-rows.ts';
import { formatInterval, formatListed, formatMean, formatPercent } from './numbers.ts';
import type { OpenReporter } from './reporter.ts';
import { isLabelled } from './terminal/stats-grid.ts';
import {
  bailedSentence,
  countProblems,
  countUnscored,
  describeAgreement,
  describeBounds,
  describeRun,
  describeScore,
  describeTotals,
  explainTest,
  formatBeside,
  nameCase,
} from './wording.ts';

/** A summary for the comment of a pull request, or for the summary of a GitHub job. */
export const openMarkdown: OpenReporter = (sink) => ({
  async begin() {},
  readsCases: false,
  async onCase() {},
  async onProblem() {},
  async end(report) {
    await sink.write(renderMarkdown(report));
  },
});

/** The same as a text of at most 60,000 bytes of UTF-8; a comment on GitHub may have 65,536 characters, a summary 1 MiB for all of a step. */
export function renderMarkdown(report: SuiteReport, longest: number = longestText): string {
  const sections = [
    { lines: verdict(report) },
    { lines: voidList(report) },
    { lines: renderTable(gateTitles, report.gates.map(gateCells), [2]) },
    ...statsSections(report),
    { lines: agreementList(report) },
    { lines: failureList(report), end: '\n\n</details>' },
    { lines: problemList(report), end: '\n\n</details>' },
  ];
  let text = '';
  for (const { lines, end = '' } of sections) {
    if (lines.length === 0) continue;
    const room = longest - bytesOf(text) - bytesOf(end) - bytesOf(cutNote) - 4;
    const kept = takeUpTo(lines, room);
    // What an end would take is reserved only where something stands before it.
    if (kept.length === 0) return `${text}\n${cutNote}\n`;
    text += `${text === '' ? '' : '\n'}${kept.join('\n')}${end}\n`;
    if (kept.length < lines.length) return `${text}\n${cutNote}\n`;
  }
  return text;
}

export const longestText = 60_000;

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function statsSections(report: SuiteReport): { readonly lines: readonly string[]; readonly end?: string }[] {
  if (report.variants !== undefined) return [{ lines: matrixTable(report, report.variants) }];
  return [
    { lines: renderTable(statsTitles, statsRows(report), numbersFrom1) },
    { lines: renderTable(guardTitles, guardRows(report), numbersFrom1) },
  ];
}

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

/** As many lines as have so many bytes. */
export function takeUpTo(lines: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = lines.findIndex((line) => {
    left -= bytesOf(line) + 1;
    return left < 0;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function verdict(report: SuiteReport): string[] {
  const { suite, status, overall, failure_count: failures } = report;
  const mark = marks[status];
  const counts = [
    `${formatPercent(overall.pass_rate)} of ${describeRun(report)} passed`,
    ...(failures === 0 ? [] : [formatCount(failures, 'failure')]),
    ...countUnscored(report),
    ...countProblems(report),
  ];
  const bailed = report.bailed ? ['', bailedSentence] : [];
  const taken = report.totals === undefined ? [] : ['', `${describeTotals(report.totals)}.`];
  return [`### ${mark} ${shortCode(suite)}: ${status}`, '', `${counts.join(', ')}.`, ...bailed, ...taken];
}

const marks = { passed: '✅', failed: '❌', error: '⚠️' } as const;

const gateTitles = ['gate', 'metric', 'value', 'wanted', ''];

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

/** The columns of numbers, which stand on the right. */
const numbersFrom1 = [1, 2, 3, 4, 5, 6, 7, 8, 9];

const statsTitles = [
  'eval',
  'count',
  'passed',
  'pass rate',
  'mean',
  '95 %',
  'median',
  'p10',
  'unscored',
  'flaky',
];

function statsRows({ evals, overall }: SuiteReport): string[][] {
  const rows = Object.entries(evals).flatMap(([id, { tags, ...all }]) => [
    [shortCode(id), ...statsCells(all)],
    ...Object.entries(tags).map(([tag, part]) => [`└ ${shortCode(tag)}`, ...statsCells(part)]),
  ]);
  return [...rows, ['all cases', ...statsCells(overall)]];
}

function statsCells(stats: Stats): string[] {
  const error = stats.stderr === null ? '' : ` ± ${formatMean(stats.stderr)}`;
  return [
    String(stats.count),
    String(stats.passed),
    formatPercent(stats.pass_rate),
    `${formatMean(stats.mean)}${error}`,
    formatInterval(stats.ci95),
    formatMean(stats.median),
    formatMean(stats.p10),
    String(stats.unscored),
    String(stats.flaky),
  ];
}

function agreementList({ evals }: SuiteReport): string[] {
  return Object.entries(evals).flatMap(([id, { agreement }]) =>
    agreement === undefined ? [] : [`- ${shortCode(id)} and people: ${describeAgreement(agreement)}`],
  );
}

const guardTitles = ['guard', 'precision', 'recall', 'F1', 'F2', 'AUC', 'missed', 'false alarms'];

function guardRows({ evals }: SuiteReport): string[][] {
  return Object.entries(evals).flatMap(([id, { classification }]) =>
    isLabelled(classification) ? [[shortCode(id), ...classificationCells(classification)]] : [],
  );
}

function classificationCells(guard: Classification): string[] {
  const shares = [guard.precision, guard.recall, guard.f1, guard.f2, guard.auc].map(formatMean);
  return [...shares, String(guard.false_negatives), String(guard.false_positives)];
}

function failureList({ failures, failure_count: count }: SuiteReport): string[] {
  if (count === 0) return [];
  return details(formatListed(count, 'failure', failures.length), failures.flatMap(failureItems));
}

/** A failure, and the row that failed below the first of its failures. */
function failureItems(failure: Failure, index: number, failures: readonly Failure[]): string[] {
  const before = failures[index - 1];
  const isSameRow =
    before?.line === failure.line && before.file === failure.file && before.case === failure.case;
  const fields = isSameRow ? [] : Object.entries(failure.fields ?? {});
  return [failureItem(failure), ...fields.map(([name, text]) => `  - ${fieldName(name)}: ${longCode(text)}`)];
}

/** An empty name would leave no code span, and an empty text leaves none. */
function fieldName(name: string): string {
  const code = shortCode(name);
  return code === '' ? '(no name)' : code;
}

function failureItem(failure: Failure): string {
  const { case: id, variant, file, line, eval: evalId } = failure;
  const name = shortCode(nameCase({ id, variant }));
  return `- ${shortCode(`${file}:${line}`)} case ${name}, ${shortCode(evalId)}: ${longCode(describeScore(failure))}`;
}

/** The problems that make the run void; not folded, since they outweigh everything else. */
function voidList({ problems }: SuiteReport): string[] {
  const ofRun = problems.filter(({ scope }) => scope === 'run');
  return ofRun.length === 0 ? [] : ['**The run is void:**', '', ...ofRun.map(problemItem)];
}

function problemList({ problems, problem_count: count }: SuiteReport): string[] {
  const ofRows = problems.filter(({ scope }) => scope !== 'run');
  const all = count - (problems.length - ofRows.length);
  return all === 0 ? [] : details(formatListed(all, 'unusable row', ofRows.length), ofRows.map(problemItem));
}

function problemItem({ file, line, message, hint }: RowProblem): string {
  const next = hint === undefined ? '' : ` – ${longCode(hint)}`;
  return `- ${shortCode(`${file}:${line}`)} ${longCode(message)}${next}`;
}

/** The blank line makes Markdown of what follows. */
function details(summary: string, items: readonly string[]): string[] {
  return [`<details><summary>${summary}</summary>`, '', ...items];
}

function shortCode(text: string): string {
  return toCode(cut(text, 100));
}

function longCode(text: string): string {
  return toCode(cut(text, 500));
}
