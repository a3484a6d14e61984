import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import {
  listOf,
  type MembersOf,
  members,
  number,
  oneOf,
  optional,
  readShape,
  type Shape,
} from '../../base/json/shape.ts';
import { failure, type RunHeader, rowProblem } from '../record.ts';
import type { Mergeable } from '../stats/mergeable.ts';
import { spendingState } from '../stats/spending.ts';
import { statsState } from '../stats/stats-accumulator.ts';
import { variantsState } from '../variant-tallies.ts';
import { totalsState } from './totals.ts';

/** Another version cannot be merged: what it counts may mean something else. */
export const tallyVersion = 1;

/** A line of the suite that is wrong, rather than the rows that came upon it. */
export interface SuiteProblem extends MembersOf<typeof suiteProblemMembers> {}
const suiteProblemMembers = {
  /** The number of the first of these rows. */
  row: number,
  /** How many rows came upon it. */
  count: number,
  problem: rowProblem,
};
const suiteProblem = members<SuiteProblem>(suiteProblemMembers);

/**
 * What some cases of a run have come to, as plain JSON of bounded size: whoever merges those of all cases has the
 * report and needs no case again.
 */
export interface RunTally extends MembersOf<typeof runTallyMembers> {}
const runTallyMembers = {
  version: oneOf(tallyVersion),
  cases: number,
  /** Results of evals. */
  evals: number,
  /** Cases of which some result has no score. */
  unscored: number,
  passed: number,
  stats: statsState,
  totals: totalsState,
  /** Of model calls. */
  spending: spendingState,
  /** Of a matrix, by variant. */
  variants: optional(variantsState),
  /** Of rows, by their numbers. */
  problems: boundedListState(rowProblem),
  /** Of lines of the suite that rows came upon. */
  suite_problems: listOf(suiteProblem),
  failures: boundedListState(failure),
};
const runTally = members<RunTally>(runTallyMembers);

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

/** Keeps the items with the lowest positions, up to a limit, and counts all that were added. */
export interface BoundedList<Item> extends Mergeable<BoundedListState<Item>> {
  /** Items are sorted by `place`, whatever order they are added in; no two items share one. */
  add(place: number, item: Item): void;
  items(): readonly Item[];
  count(): number;
}

interface BoundedListState<Item> {
  /** Those that are kept, by rising place. */
  readonly kept: readonly { readonly place: number; readonly item: Item }[];
  readonly count: number;
}

function boundedListState<Item>(item: Shape<Item>): Shape<BoundedListState<Item>> {
  return members<BoundedListState<Item>>({
    kept: listOf(members<BoundedListState<Item>['kept'][number]>({ place: number, item })),
    count: number,
  });
}

export function newBoundedList<Item>(limit: number): BoundedList<Item> {
  const kept: { place: number; item: Item }[] = [];
  let count = 0;
  const keep = (place: number, item: Item): void => {
    const after = kept.findIndex((other) => other.place > place);
    kept.splice(after === -1 ? kept.length : after, 0, { place, item });
    if (kept.length > limit) kept.pop();
  };
  return {
    add(place, item) {
      count += 1;
      keep(place, item);
    },
    items: () => kept.map(({ item }) => item),
    count: () => count,
    state: () => ({ kept: [...kept], count }),
    merge(other) {
      count += other.count;
      for (const { place, item } of other.kept) keep(place, item);
    },
  };
}
