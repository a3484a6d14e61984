import { divide, type Exact, exact, add as plus, subtract } from '../../base/json/decimal.ts';
import type { Shape } from '../../base/json/shape.ts';
import { groupsOf, type Mergeable } from './mergeable.ts';

/** Counts cases by their epochs and passed epochs, which is all that pass@k and pass^k depend on. */
export interface EpochTable extends Mergeable<readonly number[]> {
  add(epochs: number, passed: number): void;
  /** Cases of which some epochs passed and others did not. */
  flaky(): number;
  /**
   * pass@k, the mean chance that one of k epochs passes, by k from 1; a k that no case has epochs for is
   * left out.
   */
  passAt(maxK: number): Record<string, Exact>;
  /** pass^k, the mean chance that all k epochs pass, likewise. */
  passHat(maxK: number): Record<string, Exact>;
}

/** For each number of epochs and of passed ones that there is: both, and how many cases have them. */
export const epochTableState: Shape<readonly number[]> = groupsOf(3);

export function newEpochTable(): EpochTable {
  const cells = new Map<string, { readonly n: number; readonly c: number; cases: number }>();
  /** Of the chance that all of k drawn epochs are good ones, the mean over the cases, by k. */
  const chances = (maxK: number, goodOf: (n: number, c: number) => number): [k: string, mean: Exact][] => {
    const draws = [...cells.values()].map(({ n, c, cases }) => ({
      ...{ n, good: goodOf(n, c), cases, ways: 1n, all: 1n },
    }));
    const means: [string, Exact][] = [];
    for (let k = 1; k <= maxK; k += 1) {
      let [sum, count] = [exact(0), 0];
      for (const draw of draws) {
        if (draw.n < k) continue;
        draw.ways *= BigInt(Math.max(0, draw.good - k + 1));
        draw.all *= BigInt(draw.n - k + 1);
        count += draw.cases;
        sum = plus(sum, { over: BigInt(draw.cases) * draw.ways, under: draw.all, exponent: 0 });
      }
      if (count > 0) means.push([String(k), divide(sum, exact(count))]);
    }
    return means;
  };
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
    // One of k passes unless all of them are among those that did not.
    passAt: (maxK) =>
      Object.fromEntries(chances(maxK, (n, c) => n - c).map(([k, none]) => [k, subtract(exact(1), none)])),
    passHat: (maxK) => Object.fromEntries(chances(maxK, (_n, c) => c)),
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
