import { escapeShownLine as oneLine } from '../../../base/text/escape-commands.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { cut, textWidth } from '../../../base/text/width.ts';
import type { Failure, RowProblem, RunSummary, SuiteReport } from '../../record.ts';
import {
  documentOf,
  isJudged,
  latencyCells,
  matrixRows,
  outcomeColumns,
  outcomeRows,
  type ReportTable,
} from '../document.ts';
import { formatDuration, formatMean, formatRate } from '../numbers.ts';
import { describeSeveral, type OpenWriter } from '../reporter.ts';
import {
  bailedSentence,
  countProblems,
  countUnscored,
  describeFailure,
  describeRun,
  describeSpending,
  describeTotals,
} from '../wording.ts';
import { type GridRow, joinSections, openView, renderGrid, type Style, type View } from './grid.ts';

/** Prints the summary of each run when it ends, and finally a table of several suites. */
export const openTable: OpenWriter = (sink, { isSeveral }) => {
  let isFirst = true;
  const write = async (text: string) => {
    await sink.write(`${isFirst ? '' : '\n'}${text}`);
    isFirst = false;
  };
  const { hasColour, columns } = sink;
  return {
    next: () => ({
      async begin() {},
      readsCases: false,
      async onCase() {},
      async onProblem() {},
      end: (report) => write(renderTable(report, hasColour, columns)),
    }),
    async end(report) {
      if (!isSeveral) return;
      const view = openView(hasColour, columns);
      const rows = outcomeRows(report).map(({ suite, cells, status }) => ({
        ...{ cells: [oneLine(suite), ...cells], style: styles[status] },
      }));
      const whole = `${describeSeveral(report)} in ${formatDuration(report.durationMs)}`;
      await write(joinSections([[...renderGrid(outcomeColumns, rows, view), cut(whole, view.columns)]]));
    },
  };
};

/** Returns lines that end in newlines. With `columns` of at least 20, none is wider. */
export function renderTable(report: RunSummary, colour: boolean, columns?: number): string {
  const view = openView(colour, columns);
  const { paint, columns: room } = view;
  const { statistics, guards, agreements, gates, failureTitle, voids, badRows } = documentOf(report);
  // A shadow cannot pass or fail.
  const isShadow = report.kind === 'shadow';
  const word = isShadow ? formatCount(report.cases, 'event') : report.status;
  const name = paint('bold', cut(oneLine(report.suite), room - word.length - 2));
  return joinSections([
    [`${name}: ${isShadow ? word : paint(styles[report.status], word)}`],
    ...(report.variants === undefined
      ? [
          statsLines(statistics, isJudged(report), view),
          statsLines(guards, false, view),
          hookLines(report, view),
          epochLines(report, view),
        ]
      : renderMatrix(report, view)),
    agreements.map(({ eval: id, words }) => cut(`${oneLine(id)} and people: ${words}`, room)),
    gates.map(({ gate, name, words }) => {
      const mark = gate.passed ? paint('green', '✓') : paint('red', '✗');
      return `${mark} ${cut(oneLine(`${name} ${words}`), room - 2)}`;
    }),
    failureLines(report, failureTitle, view),
    [
      ...problemLines('The run is invalid:', voids, view),
      ...problemLines(`${badRows.title}:`, badRows.problems, view),
    ],
    isShadow ? [] : footer(report, view),
  ]);
}

const styles = {
  passed: 'green',
  failed: 'red',
  error: 'yellow',
  running: 'yellow',
  interrupted: 'yellow',
} as const satisfies Record<RunSummary['status'], Style>;

function statsLines({ columns, rows }: ReportTable, hasAll: boolean, view: View): string[] {
  return renderGrid(
    columns,
    rows.flatMap(({ kind, name, cells }): GridRow[] => {
      if (kind === 'all' && !hasAll) return [];
      const first = `${kind === 'tag' ? '  ' : ''}${shortName(name)}`;
      const isBold = kind !== 'tag' && columns[0]?.title === 'eval';
      return [{ cells: [first, ...cells], ...(isBold && { style: 'bold' as const }) }];
    }),
    view,
  );
}

function shortName(id: string): string {
  return cut(oneLine(id), 40);
}

function hookLines({ evals }: RunSummary, view: View): string[] {
  const rows = Object.entries(evals).flatMap(([id, { classification }]) =>
    Object.entries(classification?.latency_ms ?? {}).map(([hook, latency]) => ({
      cells: [shortName(hook), shortName(id), ...latencyCells(latency)],
    })),
  );
  const columns = ['hook', 'guard', 'p50', 'p99'].map((title, priority) => ({ title, priority }));
  return renderGrid(columns, rows, view);
}

/** pass@k and pass^k; empty for a single epoch. */
function epochLines({ evals, epochs }: RunSummary, view: View): string[] {
  const ks = [...new Set([1, 2, epochs])].filter((k) => k <= epochs);
  const rows = Object.entries(evals).flatMap(([id, { pass_at: at, pass_hat: hat }]) =>
    at === undefined || hat === undefined
      ? []
      : [
          {
            cells: [
              shortName(id),
              ...[at, hat].flatMap((chances) => ks.map((k) => formatMean(chances[k] ?? null))),
            ],
          },
        ],
  );
  const columns = [
    { title: 'eval', priority: 0 },
    ...ks.map((k) => ({ title: `pass@${k}`, priority: k })),
    ...ks.map((k) => ({ title: `pass^${k}`, priority: -k })),
  ];
  return renderGrid(columns, rows, view);
}

/** Shows variants side by side, split into tables that fit the width. If not even one fits, lists each variant. */
export function renderMatrix(report: RunSummary, view: View): string[][] {
  const { paint, columns } = view;
  const variants = report.variants ?? [];
  const shown = cutApart(variants.map(({ name }) => oneLine(name)));
  const names = variants.map(({ status }, index) => `${shown[index] ?? ''} ${marks[status]}`);
  const rows = matrixRows(report).map((row) => ({ ...row, name: cut(oneLine(row.name), longestName) }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => textWidth(text)));
  const labels = widest(rows.map(({ name }) => name)) + gap + widest(rows.map(({ measure }) => measure));
  const widths = names.map(
    (name, index) => gap + widest([name, ...rows.map(({ cells }) => cells[index] ?? '')]),
  );
  if (labels + Math.max(0, ...widths) > columns) {
    return names.map((name, index) => {
      const lines = rows.flatMap(({ name: block, measure, cells }) => {
        const cell = cells[index] ?? '';
        return [...(block === '' ? [] : [block]), ...(cell === '' ? [] : [`  ${measure} ${cell}`])];
      });
      return [paint('bold', cut(name, columns)), ...lines.map((line) => cut(line, columns))];
    });
  }
  const parts: number[][] = [];
  let left = 0;
  for (const [index, width] of widths.entries()) {
    if (parts.length === 0 || width > left) {
      parts.push([]);
      left = columns - labels;
    }
    parts.at(-1)?.push(index);
    left -= width;
  }
  return parts.map((part) =>
    renderGrid(
      ['', '', ...part.map((index) => names[index] ?? '')].map((title) => ({ title, priority: 0 })),
      rows.map(({ name, measure, cells }) => ({
        cells: [name, measure, ...part.map((index) => cells[index] ?? '')],
        style: 'bold' as const,
      })),
      view,
    ),
  );
}

/** Removes a common prefix if cut names would be equal. */
function cutApart(names: readonly string[]): string[] {
  const short = names.map((name) => cut(name, longestName));
  if (new Set(short).size === names.length) return short;
  const [first = '', ...others] = names;
  let common = 0;
  while (common < first.length && others.every((name) => name[common] === first[common])) common += 1;
  // Keeps the whole last common word, which is more readable than the differing letters.
  const from = Math.max(0, first.slice(0, common).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u));
  const rest = names.map((name) => cut(from === 0 ? name : `…${name.slice(from)}`, longestName));
  return new Set(rest).size === names.length
    ? rest
    : names.map((name, index) => `${index + 1} ${cut(name, longestName - 3)}`);
}

const longestName = 30;
const marks = { passed: '✓', failed: '✗', error: '!' } as const;
const gap = 2;

function failureLines({ failures }: RunSummary, title: string, { paint, columns }: View): string[] {
  if (title === '') return [];
  const lines = failures.flatMap((failure, index) => [
    `  ${locationOf(failure)}  ${cut(oneLine(describeFailure(failure)), maxTextWidth)}`,
    ...(failures.slice(0, index).some(({ hint }) => hint === failure.hint) ? [] : hintLines(failure)),
  ]);
  return [paint('red', cut(`${title}:`, columns)), ...lines.map((line) => cut(line, columns))];
}

const maxTextWidth = 160;

function problemLines(title: string, problems: readonly RowProblem[], { paint, columns }: View): string[] {
  if (problems.length === 0) return [];
  const lines = problems.flatMap((problem) => [
    `  ${locationOf(problem)}  ${cut(oneLine(problem.message), maxTextWidth)}`,
    ...hintLines(problem),
  ]);
  return [paint('yellow', cut(title, columns)), ...lines.map((line) => cut(line, columns))];
}

function hintLines({ hint }: Failure | RowProblem): string[] {
  return hint === undefined ? [] : [`      hint: ${oneLine(hint)}`];
}

function locationOf({ file, line }: Failure | RowProblem): string {
  return `${oneLine(file)}:${line}`;
}

function footer(report: RunSummary, { paint, columns }: View): string[] {
  const { cases, duration_ms: ms, totals, spending, bailed } = report;
  const speed = ms === null ? '' : ` (${formatRate(cases, ms)} per second)`;
  return [
    ...(bailed ? [paint('yellow', cut(bailedSentence, columns))] : []),
    ...[
      [`${describeRun(report)}${speed}`, ...countUnscored(report)].join(', '),
      ...(totals === undefined ? [] : [describeTotals(totals)]),
      ...(spending === undefined ? [] : [describeSpending(spending)]),
    ].map((line) => cut(line, columns)),
  ];
}

/**
 * Explains why a run did not pass: status, missed gates, first problems and report files. Returns only the files if it
 * passed.
 */
export function explainVerdict(report: SuiteReport, files: readonly string[]): readonly string[] {
  const { suite, status, cases, overall, problems, problem_count: count } = report;
  const written = files.length === 0 ? [] : [`written: ${files.map(oneLine).join(', ')}`];
  if (status === 'passed') return written;
  const { gates } = documentOf(report);
  const missed = gates.filter(({ gate }) => !gate.passed);
  const shown = status === 'error' ? problems.slice(0, mostProblems) : [];
  const rest = status === 'error' ? count - shown.length : 0;
  const failedCases = cases - overall.passed;
  const reasons = [
    ...(status === 'error' ? countProblems(report) : []),
    ...countUnscored(report),
    ...(gates.length === 0 ? [] : [`${missed.length} of ${formatCount(gates.length, 'gate')} missed`]),
    ...(failedCases === 0 ? [] : [`${failedCases} of ${formatCount(cases, 'case')} did not pass`]),
  ];
  return [
    `${oneLine(suite)}: ${[status, ...reasons].join(', ')}`,
    ...missed.map(({ name, words }) => `  gate missed: ${oneLine(`${name} ${words}`)}`),
    ...shown.flatMap(({ scope, code = 'DATASET_INVALID', file, line, message, hint }) => [
      `  ${scope === 'run' ? 'invalid run' : 'invalid row'}: [${code}] ${oneLine(`${file}:${line}`)} ${oneLine(message)}`,
      ...(hint === undefined ? [] : [`    hint: ${oneLine(hint)}`]),
    ]),
    ...(rest > 0 ? [`  and ${formatCount(rest, 'more invalid row')}`] : []),
    ...(report.bailed ? [`  ${bailedSentence}`] : []),
    ...written,
  ];
}

const mostProblems = 3;
