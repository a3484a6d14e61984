import { escapeInvisible } from '../../text/escape-invisible.ts';
import type { CaseRecord, CaseResult, EvalHeader, RunHeader } from '../run/record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { durationMsOf, queueMsOf } from './case-failures.ts';
import type { OpenReporter, Reporter, Sink } from './reporter.ts';

/** One line for each case and eval (RFC 4180), for spreadsheets and data frames. */
export const openCsv: OpenReporter = (sink) => {
  const lines = openCsvLines(sink, []);
  return {
    ...lines,
    async begin(header) {
      await sink.write(csvTitles([]));
      await lines.begin(header);
    },
  };
};

/** The first line; `before` are the titles of columns that stand in front. */
export function csvTitles(before: readonly string[]): string {
  return toLine([...before, ...csvColumns]);
}

/** The lines after the first; `before` are cells that stand in front of each. */
export function openCsvLines(sink: Sink, before: readonly string[]): Reporter {
  let evals: ReadonlyMap<string, EvalHeader> = new Map();
  return {
    async begin(header: RunHeader) {
      evals = new Map(header.evals.map((entry) => [entry.id, entry]));
    },
    async onCase(record) {
      const lines = record.results.map((result) =>
        toLine([...before, ...cellsOf(record, result, evals.get(result.eval))]),
      );
      // A terminal would obey control characters that a spreadsheet only shows.
      await sink.write(
        sink.columns === undefined ? lines.join('') : escapeInvisible(lines.join('').replaceAll('\r', '')),
      );
    },
    async onProblem() {},
    async end() {},
  };
}

const csvColumns = [
  'number',
  'case',
  'file',
  'line',
  'tags',
  'case_score',
  'case_passed',
  'eval',
  'type',
  'role',
  'score',
  'passed',
  'passed_epochs',
  'epochs',
  'duration_ms',
  'queue_ms',
  'error',
  'detail',
  'content',
] as const;

type Cell = string | number | boolean | null | undefined;

function cellsOf(record: CaseRecord, result: CaseResult, header: EvalHeader | undefined): Cell[] {
  return [
    record.number,
    record.id,
    record.file,
    record.line,
    record.tags.join(';'),
    record.score,
    record.passed,
    result.eval,
    header?.type,
    header?.role,
    result.score,
    result.passed,
    result.passed_epochs,
    record.epochs.length,
    durationMsOf(record, result.eval),
    queueMsOf(record, result.eval),
    resultsOf(record, result.eval).find(({ error }) => error !== undefined)?.error?.code,
    result.detail,
    record.epochs[0]?.content,
  ];
}

function toLine(cells: readonly Cell[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

function toCell(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const text = escapeFormula(cell);
  return /[",;\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A spreadsheet takes a text that begins like this for a formula, and runs it; one apostrophe more in front of it
 * prevents that. Texts that have apostrophes there already get one too, so that it can be taken away again.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function escapeFormula(text: string): string {
  return /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}
