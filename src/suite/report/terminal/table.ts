import { escapeShownLine as oneLine } from '../../../text/escape-commands.ts';
import { formatCount } from '../../../text/format-count.ts';
import { cut } from '../../../text/width.ts';
import type { Failure, RowProblem, RunSummary } from '../../run/record.ts';
import { formatListed, formatRate } from '../numbers.ts';
import type { OpenReporter } from '../reporter.ts';
import {
  bailedSentence,
  countUnscored,
  describeAgreement,
  describeFailure,
  describeRun,
  describeSpending,
  describeTotals,
  explainGate,
  nameGate,
} from '../wording.ts';
import { type GridView, toReadable } from './grid.ts';
import { renderMatrix } from './matrix.ts';
import { createPaint, type Style } from './paint.ts';
import { renderEpochs, renderGuards, renderHooks, renderStats } from './stats-grid.ts';

/** The summary of a run for people, once it is over. */
export const openTable: OpenReporter = (sink) => ({
  async begin() {},
  readsCases: false,
  async onCase() {},
  async onProblem() {},
  async end(report) {
    await sink.write(renderTable(report, sink.hasColour, sink.columns));
  },
});

/** The same as a text: several lines, each ended, and if there is a number of columns, from 20, none wider than that. */
export function renderTable(report: RunSummary, colour: boolean, columns?: number): string {
  const paint = createPaint(colour);
  const view: GridView = { paint, columns: toReadable(columns) };
  const sections = [
    [headline(report, view)],
    ...(report.variants === undefined ? statsSections(report, view) : renderMatrix(report, view)),
    agreementLines(report, view),
    gateLines(report, view),
    failureLines(report, view),
    problemLines(report, view),
    footer(report, view),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function statsSections(report: RunSummary, view: GridView): string[][] {
  return [
    renderStats(report, view),
    renderGuards(report, view),
    renderHooks(report, view),
    renderEpochs(report, view),
  ];
}

function headline(report: RunSummary, { paint, columns = Infinity }: GridView): string {
  const { word, style } = statusText(report);
  const name = cut(oneLine(report.suite), columns - word.length - 2);
  return `${paint('bold', name)}: ${style === undefined ? word : paint(style, word)}`;
}

interface StatusText {
  readonly word: string;
  readonly style?: Style;
}

/** The status with its colour; for a shadow, which cannot pass or fail, the number of events. */
function statusText({ kind, status, cases }: RunSummary): StatusText {
  if (kind === 'shadow') return { word: formatCount(cases, 'event') };
  return { word: status, style: styles[status] };
}

const styles = {
  passed: 'green',
  failed: 'red',
  error: 'yellow',
  running: 'yellow',
  interrupted: 'yellow',
} as const satisfies Record<RunSummary['status'], Style>;

/** How far evals agree with people, a line for each that has labels. */
function agreementLines({ evals }: RunSummary, { columns = Infinity }: GridView): string[] {
  return Object.entries(evals).flatMap(([id, { agreement }]) =>
    agreement === undefined
      ? []
      : [cut(`${oneLine(id)} and people: ${describeAgreement(agreement)}`, columns)],
  );
}

function gateLines({ gates }: RunSummary, { paint, columns = Infinity }: GridView): string[] {
  return gates.map((gate) => {
    const mark = gate.passed ? paint('green', '✓') : paint('red', '✗');
    return `${mark} ${cut(oneLine(`${nameGate(gate)} ${explainGate(gate)}`), columns - 2)}`;
  });
}

function failureLines(
  { failures, failure_count: count }: RunSummary,
  { paint, columns = Infinity }: GridView,
): string[] {
  if (count === 0) return [];
  const lines = failures.flatMap((failure, index) => [
    cut(`  ${locationOf(failure)}  ${cut(oneLine(describeFailure(failure)), maxTextWidth)}`, columns),
    // Most have the hint of the one before.
    ...(failure.hint === undefined || failures.slice(0, index).some(({ hint }) => hint === failure.hint)
      ? []
      : [cut(`      hint: ${oneLine(failure.hint)}`, columns)]),
  ]);
  return [paint('red', cut(`${formatListed(count, 'failure', failures.length)}:`, columns)), ...lines];
}

/** What a person reads of one text in a list. */
const maxTextWidth = 160;

function problemLines(
  { problems, problem_count: count }: RunSummary,
  { paint, columns = Infinity }: GridView,
): string[] {
  const ofRun = problems.filter(({ scope }) => scope === 'run');
  const ofRows = problems.filter(({ scope }) => scope !== 'run');
  const list = (name: string, listed: readonly RowProblem[]): string[] =>
    listed.length === 0
      ? []
      : [paint('yellow', cut(name, columns)), ...listed.flatMap(toLines).map((line) => cut(line, columns))];
  return [
    ...list('The run is void:', ofRun),
    ...list(`${formatListed(count - ofRun.length, 'unusable row', ofRows.length)}:`, ofRows),
  ];
}

function toLines(problem: RowProblem): string[] {
  return [
    `  ${locationOf(problem)}  ${cut(oneLine(problem.message), maxTextWidth)}`,
    ...(problem.hint === undefined ? [] : [`      hint: ${oneLine(problem.hint)}`]),
  ];
}

function locationOf({ file, line }: Failure | RowProblem): string {
  return `${oneLine(file)}:${line}`;
}

function footer(report: RunSummary, { paint, columns = Infinity }: GridView): string[] {
  const { kind, cases, duration_ms: ms } = report;
  if (kind === 'shadow') return [];
  const speed = ms === null ? '' : ` (${formatRate(cases, ms)} per second)`;
  const timing = [`${describeRun(report)}${speed}`, ...countUnscored(report)].join(', ');
  const bailed = report.bailed ? [paint('yellow', cut(bailedSentence, columns))] : [];
  const taken = report.totals === undefined ? [] : [cut(describeTotals(report.totals), columns)];
  const spent = report.spending === undefined ? [] : [cut(describeSpending(report.spending), columns)];
  return [...bailed, cut(timing, columns), ...taken, ...spent];
}
