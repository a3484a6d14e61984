import { styleText } from 'node:util';
import type { Failure, GateResult, RowProblem, Stats, SuiteReport } from '../model.ts';
import {
  formatCount,
  formatDuration,
  formatMean,
  formatPercent,
  formatRate,
  formatScore,
} from './numbers.ts';
import { cut, oneLine, padEnd, padStart, textWidth } from './text-width.ts';

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';
type Paint = (style: Style, text: string) => string;

/** The summary of a run for people: several lines, each ended; in colour only when asked. */
export function renderTable(report: SuiteReport, colour: boolean): string {
  const paint: Paint = colour
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
  const sections = [
    [headline(report, paint)],
    statsTable(report, paint),
    gateLines(report.gates, paint),
    failureLines(report, paint),
    problemLines(report, paint),
    [timing(report)],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

function headline({ suite, status }: SuiteReport, paint: Paint): string {
  const style = { passed: 'green', failed: 'red', error: 'yellow' } as const;
  return `${paint('bold', oneLine(suite))}: ${paint(style[status], status)}`;
}

const titles = ['eval', 'count', 'passed', 'pass rate', 'mean', 'unscored'] as const;

function statsTable({ evals }: SuiteReport, paint: Paint): string[] {
  const rows = Object.entries(evals).flatMap(([id, { tags, ...all }]) => [
    { style: 'bold' as const, cells: statsCells('', id, all) },
    ...Object.entries(tags).map(([tag, stats]) => ({
      style: undefined,
      cells: statsCells('  ', tag, stats),
    })),
  ]);
  const all = [titles, ...rows.map(({ cells }) => cells)];
  const widths = titles.map((_title, column) =>
    Math.max(...all.map((cells) => textWidth(cells[column] ?? ''))),
  );
  const align = (cells: readonly string[]): string[] =>
    cells.map((cell, column) => (column === 0 ? padEnd : padStart)(cell, widths[column] ?? 0));
  const [name = '', ...titleCells] = align(titles);
  return [
    paint('dim', [name, ...titleCells].join('  ')),
    ...rows.map(({ style, cells }) => {
      const [first = '', ...rest] = align(cells);
      return [style === undefined ? first : paint(style, first), ...rest].join('  ');
    }),
  ];
}

function statsCells(indent: string, name: string, stats: Stats): string[] {
  return [
    indent + cut(oneLine(name), 40),
    String(stats.count),
    String(stats.passed),
    formatPercent(stats.pass_rate),
    formatMean(stats.mean),
    String(stats.unscored),
  ];
}

function gateLines(gates: readonly GateResult[], paint: Paint): string[] {
  return gates.map((gate) => {
    const mark = gate.passed ? paint('green', '✓') : paint('red', '✗');
    const name = gate.tag === undefined ? gate.eval : `${gate.eval} [${gate.tag}]`;
    return `${mark} ${oneLine(name)}: ${gate.metric} ${whyGate(gate)}`;
  });
}

function whyGate({ value, min, max, passed }: GateResult): string {
  const bounds = [min === null ? [] : [`at least ${min}`], max === null ? [] : [`at most ${max}`]].flat();
  const wanted = bounds.join(' and ');
  if (value === null) return `of nothing, wanted ${wanted}`;
  const bound = min !== null && value < min ? min : max;
  return `${honest(value, bound)}, ${passed ? 'wanted' : 'but wanted'} ${wanted}`;
}

/** Four decimals, or all of them when four would make the value look like the bound that it misses. */
function honest(value: number, bound: number | null): string {
  const short = String(Number(value.toFixed(4)));
  return Number(short) === bound && value !== bound ? String(value) : short;
}

function failureLines({ failures, failure_count: count }: SuiteReport, paint: Paint): string[] {
  if (count === 0) return [];
  const lines = failures.map((failure) => `  ${place(failure)}  ${failureText(failure)}`);
  return [paint('red', title('failure', count, failures.length)), ...lines];
}

function failureText({ case: id, eval: evalId, score, detail }: Failure): string {
  const verdict = score === null ? 'unscored' : `score ${formatScore(score)}`;
  const why = detail === '' ? '' : `: ${detail}`;
  return cut(oneLine(`case ${id}, ${evalId}: ${verdict}${why}`), 160);
}

function problemLines({ problems, problem_count: count }: SuiteReport, paint: Paint): string[] {
  if (count === 0) return [];
  const lines = problems.flatMap((problem) => [
    `  ${place(problem)}  ${cut(oneLine(problem.message), 160)}`,
    ...(problem.hint === undefined ? [] : [`      hint: ${oneLine(problem.hint)}`]),
  ]);
  return [paint('yellow', title('unusable row', count, problems.length)), ...lines];
}

function place({ file, line }: Failure | RowProblem): string {
  return `${oneLine(file)}:${line}`;
}

function title(noun: string, count: number, shown: number): string {
  return shown < count ? `${formatCount(count, noun)}, the first ${shown}:` : `${formatCount(count, noun)}:`;
}

function timing({ cases, duration_ms: ms }: SuiteReport): string {
  return `${formatCount(cases, 'case')} in ${formatDuration(ms)} (${formatRate(cases, ms)} per second)`;
}
