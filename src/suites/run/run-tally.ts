import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { listOf, members, number, oneOf, optional, readShape, type Shape } from '../../base/json/shape.ts';
import type { Failure, RowProblem, RunHeader } from '../record.ts';
import { type SpendingState, spendingState } from '../stats/spending.ts';
import { type StatsState, statsState } from '../stats/stats-accumulator.ts';
import { type VariantsState, variantsState } from '../variant-tallies.ts';
import { type BoundedListState, boundedListState } from './bounded-list.ts';
import { failure, problem } from './report-shape.ts';
import { type TotalsState, totalsState } from './totals.ts';

/**
 * What some cases of a run have come to, as plain JSON of bounded size: whoever merges those of all cases has the
 * report and needs no case again.
 */
export interface RunTally {
  readonly version: 1;
  readonly cases: number;
  /** Results of evals. */
  readonly evals: number;
  /** Cases of which some result has no score. */
  readonly unscored: number;
  readonly passed: number;
  readonly stats: StatsState;
  /** Absent of an earlier version, which did not add them up. */
  readonly totals?: TotalsState;
  /** Absent in tallies of an earlier Signalbox. */
  readonly spending?: SpendingState;
  /** Of a matrix, by variant. */
  readonly variants?: VariantsState;
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
  variants: optional(variantsState),
  problems: boundedListState(problem),
  suite_problems: listOf(members({ row: number, count: number, problem })),
  failures: boundedListState(failure),
});

/** Reads a tally of a run with these evals and variants. Throws STORE_FAILED for one of another version, others or a wrong shape. */
export function readRunTally(
  value: unknown,
  { evals, variants }: Pick<RunHeader, 'evals' | 'variants'>,
): RunTally {
  const version = isObject(value) ? value['version'] : undefined;
  if (version !== tallyVersion) {
    const found = typeof version === 'number' ? `version ${version}` : 'no version';
    throw notMergeable(`it has ${found}, and this Signalbox reads version ${tallyVersion}`);
  }
  const tally = readShape(runTally, value, (path) => notMergeable(`it is damaged at ${path}`));
  const stats = [tally.stats, ...(tally.variants?.variants.map((variant) => variant.stats) ?? [])];
  for (const each of stats) requireSame('evals', each.evals.map(idOf), evals.map(idOf));
  for (const each of tally.variants?.comparisons ?? [])
    requireSame('evals', each.evals.map(idOf), evals.map(idOf));
  requireSame('variants', tally.variants?.variants.map(nameOf), variants?.map(nameOf));
  return tally;
}

const idOf = ({ id }: { readonly id: string }): string => id;
const nameOf = ({ name }: { readonly name: string }): string => name;

/** Undefined where there are none, which is another thing than a list of none. */
function requireSame(
  what: string,
  found: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): void {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw notMergeable(`it is of other ${what}: ${found?.join(', ') ?? 'none'}`);
}

function notMergeable(why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `a stored tally of the run cannot be read: ${why}`, {
    hint: 'All processes that work on one run have to be of one version of Signalbox. Run the suite again.',
  });
}
