import { stringifyJson } from '../../base/json/json.ts';
import type { CaseRecord, CaseResult, EvalHeader } from '../record.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { durationMsOf, fieldText, queueMsOf } from './case-failures.ts';
import { type Cell, cutCell, mostFields, toLine } from './csv-line.ts';
import type { OpenWriter } from './reporter.ts';

/**
 * Writes one RFC 4180 line per case and eval. With several suites, the first column is the suite name, below a single
 * header line.
 */
export const openCsv: OpenWriter = (sink, { isSeveral }) => {
  let fields: readonly string[] | undefined;
  const write = (cells: readonly Cell[]): Promise<void> => sink.write(toLine(cells));
  const requireTitles = async (names: readonly string[]): Promise<readonly string[]> => {
    if (fields !== undefined) return fields;
    fields = names;
    const ofRow = [...names.map((name) => `row.${name}`), 'row', 'variables'];
    await write([...(isSeveral ? ['suite'] : []), ...Object.keys(columns), ...ofRow]);
    return names;
  };
  return {
    next({ suite }) {
      let evals: ReadonlyMap<string, EvalHeader> = new Map();
      return {
        async begin(header) {
          evals = new Map(header.evals.map((entry) => [entry.id, entry]));
        },
        async onCase(record) {
          const names = await requireTitles(Object.keys(record.row ?? {}).slice(0, mostFields));
          const ofRow = rowCells(record, names);
          for (const result of record.results) {
            const entry = evals.get(result.eval);
            const cells = Object.values(columns).map((cell) => cell(record, result, entry));
            await write([...(isSeveral ? [suite] : []), ...cells, ...ofRow]);
          }
        },
        async onProblem() {},
        async end() {},
      };
    },
    end: async () => void (await requireTitles([])),
  };
};

const columns: Readonly<
  Record<string, (record: CaseRecord, result: CaseResult, header: EvalHeader | undefined) => Cell>
> = {
  number: ({ number }) => number,
  case: ({ id }) => id,
  file: ({ file }) => file,
  line: ({ line }) => line,
  tags: ({ tags }) => tags.join(';'),
  case_score: ({ score }) => score,
  case_passed: ({ passed }) => passed,
  eval: (_, result) => result.eval,
  type: (_, _result, header) => header?.type,
  role: (_, _result, header) => header?.role,
  score: (_, { score }) => score,
  passed: (_, { passed }) => passed,
  passed_epochs: (_, result) => result.passed_epochs,
  epochs: ({ epochs }) => epochs.length,
  duration_ms: (record, result) => durationMsOf(record, result.eval),
  queue_ms: (record, result) => queueMsOf(record, result.eval),
  error: (record, result) =>
    resultsOf(record, result.eval).find(({ error }) => error !== undefined)?.error?.code,
  detail: (_, { detail }) => detail,
  content: ({ epochs }) => epochs[0]?.content,
  variant: ({ variant }) => variant,
};

/** The fields of the first row, the other fields as JSON, and the variables of the first epoch. */
function rowCells({ row = {}, epochs }: CaseRecord, fields: readonly string[]): Cell[] {
  const known = new Set(fields);
  const others = Object.entries(row).filter(([name]) => !known.has(name));
  const variables = epochs[0]?.variables;
  return [
    ...fields.map((name): Cell => {
      const value = Object.hasOwn(row, name) ? row[name] : undefined;
      return typeof value === 'number' || typeof value === 'boolean' ? value : cutCell(fieldText(value));
    }),
    others.length === 0 ? '' : cutCell(stringifyJson(Object.fromEntries(others))),
    variables === undefined ? '' : cutCell(stringifyJson(variables)),
  ];
}
