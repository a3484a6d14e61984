import type { Shape } from '../../json/shape.ts';
import { groupsOf, type Mergeable } from './mergeable.ts';
import { type EpochCounts, estimatePassAt, estimatePassHat } from './pass-k.ts';
import { weightedMean } from './weighted-score.ts';

/** Counts cases by their epochs and passed epochs, which is all that pass@k and pass^k depend on. */
export interface EpochTable extends Mergeable<readonly number[]> {
  add(epochs: number, passed: number): void;
  /** Cases of which some epochs passed and others did not. */
  flaky(): number;
  /**
   * pass@k, the mean chance that one of k epochs passes, by k from 1; a k that no case has epochs for is
   * left out.
   */
  passAt(maxK: number): Record<string, number>;
  /** pass^k, the mean chance that all k epochs pass, likewise. */
  passHat(maxK: number): Record<string, number>;
}

/** For each number of epochs and of passed ones that there is: both, and how many cases have them. */
export const epochTableState: Shape<readonly number[]> = groupsOf(3);

export function newEpochTable(): EpochTable {
  const cells = new Map<string, { readonly n: number; readonly c: number; cases: number }>();
  const chances = (maxK: number, estimate: (draw: EpochCounts) => number) =>
    Object.fromEntries(
      Array.from({ length: maxK }, (_none, index) => index + 1).flatMap((k) => {
        const largeEnough = [...cells.values()].filter(({ n }) => n >= k);
        const mean = weightedMean(
          largeEnough.map(({ n, c, cases }) => ({ score: estimate({ n, c, k }), weight: cases })),
        );
        return mean === null ? [] : [[String(k), mean] as const];
      }),
    );
  const add = (n: number, c: number, cases: number): void => {
    const key = `${n} ${c}`;
    const cell = cells.get(key) ?? { n, c, cases: 0 };
    cells.set(key, cell);
    cell.cases += cases;
  };
  return {
    add: (epochs, passed) => add(epochs, passed, 1),
    flaky() {
      const mixed = [...cells.values()].filter(({ n, c }) => isFlaky(n, c));
      return mixed.reduce((sum, { cases }) => sum + cases, 0);
    },
    passAt: (maxK) => chances(maxK, estimatePassAt),
    passHat: (maxK) => chances(maxK, estimatePassHat),
    state: () => [...cells.values()].flatMap(({ n, c, cases }) => [n, c, cases]),
    merge(other) {
      for (let at = 0; at < other.length; at += 3)
        add(other[at] ?? 0, other[at + 1] ?? 0, other[at + 2] ?? 0);
    },
  };
}

/** Whether some epochs of a case passed and others did not. */
export function isFlaky(epochs: number, passed: number): boolean {
  return passed > 0 && passed < epochs;
}
