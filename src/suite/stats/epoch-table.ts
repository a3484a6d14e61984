import { type EpochCounts, estimatePassAt, estimatePassHat } from './pass-k.ts';
import { weightedMean } from './weighted-score.ts';

/** Counts cases by their epochs and passed epochs, which is all that pass@k and pass^k depend on. */
export interface EpochTable {
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
  return {
    add(epochs, passed) {
      const key = `${epochs} ${passed}`;
      const cell = cells.get(key) ?? { n: epochs, c: passed, cases: 0 };
      cells.set(key, cell);
      cell.cases += 1;
    },
    flaky() {
      const mixed = [...cells.values()].filter(({ n, c }) => isFlaky(n, c));
      return mixed.reduce((sum, { cases }) => sum + cases, 0);
    },
    passAt: (maxK) => chances(maxK, estimatePassAt),
    passHat: (maxK) => chances(maxK, estimatePassHat),
  };
}

/** Whether some epochs of a case passed and others did not. */
export function isFlaky(epochs: number, passed: number): boolean {
  return passed > 0 && passed < epochs;
}
