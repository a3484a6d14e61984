import { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { listOf, members, number, oneOf, optional, readShape, type Shape } from '../../json/shape.ts';
import { type SpendingState, spendingState } from '../stats/spending.ts';
import { type StatsState, statsState } from '../stats/stats-accumulator.ts';
import { type TotalsState, totalsState } from '../stats/totals.ts';
import { type BoundedListState, boundedListState } from './bounded-list.ts';
import type { Failure, RowProblem, RunHeader } from './record.ts';
import { failure, problem } from './report-shape.ts';

/**
 * What some cases of a run have come to, as plain JSON of bounded size: whoever merges those of all cases has the
 * report and needs no case again.
 */
export interface RunTally {
  readonly version: 1;
  readonly cases: number;
  /** Results of evals, and how many of them are unscored. */
  readonly evals: number;
  readonly unscored: number;
  readonly passed: number;
  readonly stats: StatsState;
  /** Absent of an earlier version, which did not add them up. */
  readonly totals?: TotalsState;
  /** Absent in tallies of an earlier Signalbox. */
  readonly spending?: SpendingState;
  /** Of rows, by their numbers. */
  readonly problems: BoundedListState<RowProblem>;
  /** Of lines of the suite that rows came upon. */
  readonly suite_problems: readonly SuiteProblem[];
  readonly failures: BoundedListState<Failure>;
}

/** A line of the suite that is wrong, rather than the rows that came upon it. */
export interface SuiteProblem {
  /** The number of the first of these rows. */
  readonly row: number;
  /** How many rows came upon it. */
  readonly count: number;
  readonly problem: RowProblem;
}

/** Another version cannot be merged: what it counts may mean something else. */
export const tallyVersion = 1;

const runTally: Shape<RunTally> = members<RunTally>({
  version: oneOf(tallyVersion),
  cases: number,
  evals: number,
  unscored: number,
  passed: number,
  stats: statsState,
  totals: optional(totalsState),
  spending: optional(spendingState),
  problems: boundedListState(problem),
  suite_problems: listOf(members({ row: number, count: number, problem })),
  failures: boundedListState(failure),
});

/** Reads a tally of a run with these evals. Throws STORE_FAILED for one of another version, other evals or a wrong shape. */
export function readRunTally(value: unknown, { evals }: Pick<RunHeader, 'evals'>): RunTally {
  const version = isObject(value) ? value['version'] : undefined;
  if (version !== tallyVersion) {
    const found = typeof version === 'number' ? `version ${version}` : 'no version';
    throw notMergeable(`it has ${found}, and this Signalbox reads version ${tallyVersion}`);
  }
  const tally = readShape(runTally, value, (path) => notMergeable(`it is damaged at ${path}`));
  const [ids, wanted] = [tally.stats.evals.map(({ id }) => id), evals.map(({ id }) => id)];
  if (JSON.stringify(ids) === JSON.stringify(wanted)) return tally;
  throw notMergeable(`it is of other evals: ${ids.join(', ')}`);
}

function notMergeable(why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `a stored tally of the run cannot be read: ${why}`, {
    hint: 'All processes that work on one run have to be of one version of Signalbox. Run the suite again.',
  });
}
