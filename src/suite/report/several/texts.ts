import { escapeShownLine as oneLine } from '../../../text/escape-commands.ts';
import { cut } from '../../../text/width.ts';
import { commandsOf, mostAnnotations, renderCommands, type WorkflowCommand } from '../github.ts';
import { bytesOf, longestText, renderMarkdown, takeUpTo } from '../markdown.ts';
import { cutNote, renderTable as renderMarkdownTable, toCode } from '../markdown-text.ts';
import { formatDuration, formatPercent } from '../numbers.ts';
import type { Reporter } from '../reporter.ts';
import { type Column, renderGrid, toReadable } from '../terminal/grid.ts';
import { createPaint } from '../terminal/paint.ts';
import { openTable } from '../terminal/table.ts';
import { describeSeveral, type OpenSeveralReporter, type SuiteOutcome, statusOf } from './outcome.ts';

/** The table of each suite as it ends, and at last one of all suites. */
export const openSeveralTable: OpenSeveralReporter = (sink) => {
  let count = 0;
  return {
    async next() {
      count += 1;
      const table = openTable(sink);
      const isFirst = count === 1;
      return {
        ...table,
        async end(report) {
          if (!isFirst) await sink.write('\n');
          await table.end(report);
        },
      };
    },
    async end(report) {
      const paint = createPaint(sink.hasColour);
      const columns = toReadable(sink.columns);
      const styles = { passed: 'green', failed: 'red', error: 'yellow' } as const;
      const rows = report.outcomes.map((outcome) => ({
        cells: [oneLine(outcome.suite), ...summaryCells(outcome)],
        style: styles[statusOf(outcome)],
      }));
      const lines = [
        ...renderGrid(summaryColumns, rows, { paint, columns }),
        cut(`${describeSeveral(report)} in ${formatDuration(report.durationMs)}`, columns ?? Infinity),
      ];
      const before = count === 0 ? '' : '\n';
      await sink.write(`${before}${lines.map((line) => `${line.trimEnd()}\n`).join('')}`);
    },
  };
};

const summaryColumns: readonly Column[] = [
  { title: 'suite', priority: 9 },
  { title: 'status', priority: 8 },
  { title: 'cases', priority: 6 },
  { title: 'passed', priority: 5 },
  { title: 'pass rate', priority: 7 },
  { title: 'gates', priority: 4 },
  { title: 'time', priority: 3 },
];

function summaryCells(outcome: SuiteOutcome): string[] {
  if ('error' in outcome) return ['error', '', '', '', '', ''];
  const { status, cases, overall, gates, duration_ms: ms } = outcome.report;
  return [
    status,
    String(cases),
    String(overall.passed),
    formatPercent(overall.pass_rate),
    gates.length === 0 ? '' : `${gates.filter(({ passed }) => passed).length}/${gates.length}`,
    formatDuration(ms),
  ];
}

const silent: Reporter = {
  readsCases: false,
  async begin() {},
  async onCase() {},
  async onProblem() {},
  async end() {},
};

const marks = { passed: '✅', failed: '❌', error: '⚠️' } as const;

/** A table of the suites and, as far as there is room, what each came to. */
export const openSeveralMarkdown: OpenSeveralReporter = (sink) => ({
  next: async () => silent,
  async end(report) {
    const titles = ['suite', '', 'cases', 'passed', 'pass rate', 'gates', 'time'];
    const rows = report.outcomes.map((outcome) => {
      const [, ...cells] = summaryCells(outcome);
      return [toCode(cut(outcome.suite, 100)), marks[statusOf(outcome)], ...cells];
    });
    const head = [`### ${marks[report.status]} ${describeSeveral(report)}`, ''];
    let text = `${[...head, ...takeUpTo(renderMarkdownTable(titles, rows, [2, 3, 4, 5, 6]), longestTable)].join('\n')}\n`;
    for (const outcome of report.outcomes) {
      const room = longestText - bytesOf(text) - bytesOf(cutNote) - 3;
      const part = renderOutcome(outcome, room);
      if (part === undefined) {
        text += `\n${cutNote}\n`;
        break;
      }
      text += `\n${part}`;
    }
    await sink.write(text);
  },
});

/** Bytes that the table of suites may have, so that room is left for what they came to. */
const longestTable = 40_000;

/** Undefined where there is no room for anything that could be read. */
function renderOutcome(outcome: SuiteOutcome, room: number): string | undefined {
  if (room < 2_000) return undefined;
  if ('report' in outcome) return renderMarkdown(outcome.report, room);
  const { code, message } = outcome.error;
  const title = `### ${marks.error} ${toCode(cut(outcome.suite, 100))}: error`;
  return `${title}\n\n${toCode(cut(`[${code}] ${message}`, 500))}\n`;
}

/** Annotations of all suites: of each kind as many as one step may have, what has no report first. */
export const openSeveralGithub: OpenSeveralReporter = (sink) => ({
  next: async () => silent,
  async end({ outcomes }) {
    const faults = outcomes.flatMap((outcome): WorkflowCommand[] => {
      if ('report' in outcome) return [];
      const { file, suite, error } = outcome;
      const title = `${suite} could not be run`;
      return [{ name: 'error', file, line: 1, title, message: `[${error.code}] ${error.message}` }];
    });
    const all = outcomes.flatMap((outcome) =>
      'report' in outcome ? commandsOf(outcome.report, outcome.file) : [],
    );
    // What a whole suite missed stands before its single failures.
    const sorted = [...faults, ...all.toSorted((one, other) => weightOf(one) - weightOf(other))];
    const kinds = (['error', 'warning', 'notice'] as const).map((name) =>
      sorted.filter((command) => command.name === name).slice(0, mostAnnotations),
    );
    await sink.write(renderCommands(kinds.flat()));
  },
});

function weightOf({ title }: WorkflowCommand): number {
  return title.endsWith(' did not pass') ? 1 : 0;
}
