import type { Word } from './judge.ts';
import type { CellResult } from './run-cell.ts';
import type { MatrixRun } from './run-matrix.ts';

const words: readonly Word[] = [
  'answered',
  'denied',
  'open',
  'no opinion',
  'forced',
  'failed',
  'unscored',
  'swallowed',
  'recorded',
  'OPEN',
  'HUNG',
  'THREW',
  'WRONG',
];

export interface Tally {
  readonly faults: number;
  readonly cells: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly open: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

export function tallyOf({ results, leaks }: MatrixRun): Tally {
  const leaked = Object.entries(leaks).flatMap(([what, list]: [string, readonly string[]]) =>
    list.map((each) => `left behind, ${what}: ${each}`),
  );
  return {
    faults: new Set(results.map(({ fault }) => fault.id)).size,
    cells: results.length,
    outcomes: countBy(results, ({ word }) => word),
    open: countBy(
      results.filter(({ rule }) => rule !== undefined),
      ({ rule }) => rule ?? '',
    ),
    problems: [
      ...results.flatMap(({ problem, fault, target, word }) =>
        problem === undefined ? [] : [`${word} ${target.id} | ${fault.id} | ${problem}`],
      ),
      ...leaked,
    ],
  };
}

/** A table with a row for each fault and a column for each outcome that occurred. */
export function tableOf(run: MatrixRun): string {
  const { outcomes } = tallyOf(run);
  const columns = words.filter((word) => outcomes[word] !== undefined);
  const byFault = Map.groupBy(run.results, ({ fault }) => `${fault.area}: ${fault.id}`);
  const rows = [...byFault].map(([name, own]) => rowOf(name, own, columns));
  const head = ['fault', ...columns, 'cells'];
  return format([head, ...rows, rowOf('all', run.results, columns)]);
}

function rowOf(name: string, results: readonly CellResult[], columns: readonly Word[]): string[] {
  const counts = countBy(results, ({ word }) => word);
  return [name, ...columns.map((word) => `${counts[word] ?? ''}`), `${results.length}`];
}

function format(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function countBy<Item>(items: readonly Item[], key: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
