import type { Failure, RowProblem, SuiteReport } from '../record.ts';
import type { GridView } from './grid.ts';
import { formatCount, formatRate } from './numbers.ts';
import { openPaint } from './paint.ts';
import type { OpenReporter } from './reporter.ts';
import { renderEpochs, renderGuards, renderHooks, renderStats } from './stats-grid.ts';
import { cut, oneLine } from './text-width.ts';
import { bailedSentence, describeFailure, describeRun, explainGate, nameGate } from './wording.ts';

/** The summary of a run for people, once it is over. */
export const openTable: OpenReporter = (sink) => ({
  async begin() {},
  async onCase() {},
  async onProblem() {},
  async end(report) {
    await sink.write(renderTable(report, sink.hasColour, sink.columns));
  },
});

/** The same as a text: several lines, each ended, and if there is a number of columns, none wider than that. */
export function renderTable(report: SuiteReport, colour: boolean, columns?: number): string {
  const paint = openPaint(colour);
  const view: GridView = { paint, columns };
  const sections = [
    [headline(report, view)],
    renderStats(report, view),
    renderGuards(report, view),
    renderHooks(report, view),
    renderEpochs(report, view),
    gateLines(report, view),
    failureLines(report, view),
    problemLines(report, view),
    closing(report, view),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function headline({ suite, status }: SuiteReport, { paint, columns = Infinity }: GridView): string {
  const style = { passed: 'green', failed: 'red', error: 'yellow' } as const;
  const name = cut(oneLine(suite), columns - status.length - 2);
  return `${paint('bold', name)}: ${paint(style[status], status)}`;
}

function gateLines({ gates }: SuiteReport, { paint, columns = Infinity }: GridView): string[] {
  return gates.map((gate) => {
    const mark = gate.passed ? paint('green', '✓') : paint('red', '✗');
    return `${mark} ${cut(oneLine(`${nameGate(gate)} ${explainGate(gate)}`), columns - 2)}`;
  });
}

function failureLines(
  { failures, failure_count: count }: SuiteReport,
  { paint, columns = Infinity }: GridView,
): string[] {
  if (count === 0) return [];
  const lines = failures.map((failure) =>
    cut(`  ${place(failure)}  ${cut(oneLine(describeFailure(failure)), longestText)}`, columns),
  );
  return [paint('red', cut(title('failure', count, failures.length), columns)), ...lines];
}

/** What a person reads of one text in a list. */
const longestText = 160;

function problemLines(
  { problems, problem_count: count }: SuiteReport,
  { paint, columns = Infinity }: GridView,
): string[] {
  if (count === 0) return [];
  const lines = problems.flatMap((problem) => [
    `  ${place(problem)}  ${cut(oneLine(problem.message), longestText)}`,
    ...(problem.hint === undefined ? [] : [`      hint: ${oneLine(problem.hint)}`]),
  ]);
  return [
    paint('yellow', cut(title('unusable row', count, problems.length), columns)),
    ...lines.map((line) => cut(line, columns)),
  ];
}

function place({ file, line }: Failure | RowProblem): string {
  return `${oneLine(file)}:${line}`;
}

function title(noun: string, count: number, shown: number): string {
  return shown < count ? `${formatCount(count, noun)}, the first ${shown}:` : `${formatCount(count, noun)}:`;
}

function closing(report: SuiteReport, { paint, columns = Infinity }: GridView): string[] {
  const timing = `${describeRun(report)} (${formatRate(report.cases, report.duration_ms)} per second)`;
  const bailed = report.bailed ? [paint('yellow', cut(bailedSentence, columns))] : [];
  return [...bailed, cut(timing, columns)];
}
