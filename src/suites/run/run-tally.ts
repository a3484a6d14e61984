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

/** Tallies of another version cannot be merged, because their counts may have another meaning. */
export const tallyVersion = 1;

export interface SuiteProblem extends MembersOf<typeof suiteProblemMembers> {}
const suiteProblemMembers = {
  row: number,
  count: number,
  problem: rowProblem,
};
const suiteProblem = members<SuiteProblem>(suiteProblemMembers);

/**
 * The counts of some cases of a run, as plain JSON of bounded size. Merging the tallies of all cases gives the report.
 */
export interface RunTally extends MembersOf<typeof runTallyMembers> {}
const runTallyMembers = {
  version: oneOf(tallyVersion),
  cases: number,
  evals: number,
  unscored: number,
  passed: number,
  stats: statsState,
  totals: totalsState,
  spending: spendingState,
  variants: optional(variantsState),
  problems: boundedListState(rowProblem),
  suite_problems: listOf(suiteProblem),
  failures: boundedListState(failure),
};
const runTally = members<RunTally>(runTallyMembers);

export function readRunTally(
  value: unknown,
  { evals, variants }: Pick<RunHeader, 'evals' | 'variants'>,
): RunTally {
  const version = isObject(value) ? value['version'] : undefined;
  if (version !== tallyVersion) {
    const found = typeof version === 'number' ? `version ${version}` : 'no version';
    throw notMergeable(`it has ${found}, but this Signalbox reads version ${tallyVersion}`);
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

/** Undefined and an empty list are different. */
function requireSame(
  what: string,
  found: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): void {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw notMergeable(`it is of different ${what}: ${found?.join(', ') ?? 'none'}`);
}

function notMergeable(why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `a stored tally of the run cannot be read: ${why}`, {
    hint: 'Use one version of Signalbox for all processes that work on a run. Run the suite again.',
  });
}

/** Keeps the items with the lowest positions up to a limit, and counts all items. */
export interface BoundedList<Item> extends Mergeable<BoundedListState<Item>> {
  /** Sorts by `place`, regardless of the order of calls. Each `place` must be unique. */
  add(place: number, item: Item): void;
  items(): readonly Item[];
  count(): number;
}

interface BoundedListState<Item> {
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
