import { stringifyJson } from '../../base/json/json.ts';
import type { CaseRecord, CaseResult, EvalHeader, RunHeader } from '../record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { durationMsOf, fieldText, queueMsOf } from './case-failures.ts';
import { type Cell, toLine } from './csv-line.ts';
import type { OpenWriter } from './reporter.ts';

/** One line for each case and eval (RFC 4180), for spreadsheets and data frames; of several suites, whose names are the first column, under one line of titles. */
export const openCsv: OpenWriter = (sink, { isSeveral }) => {
  // The columns of a row's own fields are known with the first case.
  let fields: readonly string[] | undefined;
  const write = (cells: readonly Cell[]): Promise<void> => sink.write(toLine(cells));
  const requireTitles = async (names: readonly string[]): Promise<readonly string[]> => {
    if (fields !== undefined) return fields;
    fields = names;
    const before = isSeveral ? ['suite'] : [];
    await write([...before, ...csvColumns, ...names.map((name) => `row.${name}`), 'row', 'variables']);
    return names;
  };
  return {
    next({ suite }) {
      let evals: ReadonlyMap<string, EvalHeader> = new Map();
      return {
        async begin(header: RunHeader) {
          evals = new Map(header.evals.map((entry) => [entry.id, entry]));
        },
        async onCase(record) {
          const names = await requireTitles(Object.keys(record.row ?? {}).slice(0, MOST_FIELDS));
          const own = rowCells(record, names);
          for (const result of record.results) {
            const cells = cellsOf(record, result, evals.get(result.eval));
            await write([...(isSeveral ? [suite] : []), ...cells, ...own]);
          }
        },
        async onProblem() {},
        async end() {},
      };
    },
    // Without a case there are the titles alone.
    end: async () => void (await requireTitles([])),
  };
};

/** Fields that have a column of their own; a spreadsheet with more is not read by people. */
const MOST_FIELDS = 100;

/** Characters that a cell of a spreadsheet holds at most, as Excel has it. */
const LONGEST_FIELD = 32_767;

/** The fields that the first row had, then as JSON the other ones, and the variables of the first epoch. */
function rowCells({ row = {}, epochs }: CaseRecord, fields: readonly string[]): Cell[] {
  const columns = new Set(fields);
  const others = Object.entries(row).filter(([name]) => !columns.has(name));
  const variables = epochs[0]?.variables;
  return [
    ...fields.map((name) => fieldCell(Object.hasOwn(row, name) ? row[name] : undefined)),
    others.length === 0 ? '' : cutCell(stringifyJson(Object.fromEntries(others))),
    variables === undefined ? '' : cutCell(stringifyJson(variables)),
  ];
}

function fieldCell(value: unknown): Cell {
  return typeof value === 'number' || typeof value === 'boolean' ? value : cutCell(fieldText(value));
}

/** A cut text says so, since nothing else would. */
function cutCell(text: string): string {
  if (text.length <= LONGEST_FIELD) return text;
  const note = `… (cut: ${text.length} characters)`;
  return `${text.slice(0, LONGEST_FIELD - note.length).toWellFormed()}${note}`;
}

/** The first columns. */
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
  'variant',
] as const;

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
    record.variant,
  ];
}
