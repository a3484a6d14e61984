import type { Row } from '../dataset/row.ts';
import type { RowProblem } from '../record.ts';
import type { RowFault } from '../row-fault.ts';
import type { Mergeable } from '../stats/mergeable.ts';
import type { VariantPlace } from '../variants.ts';
import { newBoundedList } from './bounded-list.ts';
import type { RunTally, SuiteProblem } from './run-tally.ts';

/** The rows of a run that could not be used, in bounded memory. */
export interface RowProblems extends Mergeable<Pick<RunTally, 'problems' | 'suite_problems'>> {
  /** Counts a row, of that variant. Undefined when the same line of the suite was reported before. */
  add(row: Row, fault: RowFault, variant?: VariantPlace): RowProblem | undefined;
  /** The first ones, by the numbers of the rows; of a line of the suite where the first row came upon it. */
  items(): readonly RowProblem[];
  /** All rows. */
  count(): number;
}

/** Lists `limit` of them. */
export function newRowProblems(limit: number): RowProblems {
  const ofRows = newBoundedList<RowProblem>(limit);
  /** By the line of the suite. */
  const ofSuite = new Map<string, SuiteProblem>();
  const addToSuite = (added: SuiteProblem): boolean => {
    const key = `${added.problem.file}:${added.problem.line}`;
    const known = ofSuite.get(key);
    const first = known !== undefined && known.row < added.row ? known : added;
    ofSuite.set(key, { ...first, count: added.count + (known?.count ?? 0) });
    return known === undefined;
  };
  return {
    add({ number, file, line }, { location, ...fault }, variant) {
      const words =
        variant === undefined
          ? fault
          : { ...fault, variant: variant.name, message: `variant ${variant.name}: ${fault.message}` };
      const problem = { ...(location ?? { file, line }), column: 1, ...words };
      if (location !== undefined) return addToSuite({ row: number, count: 1, problem }) ? problem : undefined;
      // Those of the variants of one row stand behind one another, before the next row.
      ofRows.add(variant === undefined ? number : number + variant.index / variant.of, problem);
      return problem;
    },
    items() {
      const first = newBoundedList<RowProblem>(limit);
      first.merge(ofRows.state());
      for (const { row, problem } of ofSuite.values()) first.add(row, problem);
      return first.items();
    },
    count: () => [...ofSuite.values()].reduce((sum, { count }) => sum + count, ofRows.count()),
    state: () => ({ problems: ofRows.state(), suite_problems: [...ofSuite.values()] }),
    merge({ problems, suite_problems: ofLines }) {
      ofRows.merge(problems);
      for (const each of ofLines) addToSuite(each);
    },
  };
}
