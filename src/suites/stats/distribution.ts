import type { Exact } from '../../base/json/decimal.ts';
import { flag, members, type Shape } from '../../base/json/shape.ts';
import { midpoint } from './averages.ts';
import { addCounts, type Counts, counts, type Mergeable, sumCounts, toCounts } from './mergeable.ts';

/** The distribution of scores of 0..1, in bounded memory and with the same result in any order. */
export interface Distribution extends Mergeable<DistributionState> {
  add(score: number): void;
  /** Null when there is no score, as for p10. */
  median(): Exact | null;
  /** The smallest score that at least a tenth do not exceed. */
  p10(): number | null;
}

export interface DistributionState {
  readonly is_exact: boolean;
  /** Of scores where it is exact, else of the numbers of bins. */
  readonly levels: Counts;
}

export const distributionState: Shape<DistributionState> = members<DistributionState>({
  is_exact: flag,
  levels: counts,
});

/** How exact a distribution is. */
export interface Precision {
  /** Up to so many different scores, it is exact. */
  readonly maxDistinct: number;
  /** Beyond, scores are rounded to multiples of 1 / binsPerUnit. */
  readonly binsPerUnit: number;
}

/** Half a megabyte at most. */
export const fine: Precision = { maxDistinct: 10_000, binsPerUnit: 2 ** 16 };
/** 40 KB at most, since a run may have thousands of tags. */
export const coarse: Precision = { maxDistinct: 1000, binsPerUnit: 2 ** 12 };

export function newDistribution({ maxDistinct, binsPerUnit }: Precision = fine): Distribution {
  let exact: Map<number, number> | undefined = new Map();
  let bins = new Float64Array(0);
  let count = 0;
  const addToBin = (score: number, times: number) => {
    const bin = Math.round(score * binsPerUnit);
    bins[bin] = (bins[bin] ?? 0) + times;
  };
  const toBins = (): void => {
    if (exact === undefined) return;
    bins = new Float64Array(binsPerUnit + 1);
    for (const [known, times] of exact) addToBin(known, times);
    exact = undefined;
  };
  const levels = (): Iterable<readonly [score: number, times: number]> =>
    exact === undefined ? binLevels(bins, binsPerUnit) : [...exact].sort(([a], [b]) => a - b);
  return {
    add(score) {
      count += 1;
      if (exact === undefined) {
        addToBin(score, 1);
        return;
      }
      exact.set(score, (exact.get(score) ?? 0) + 1);
      if (exact.size > maxDistinct) toBins();
    },
    median() {
      const [lower, upper] = atRanks(levels(), [Math.ceil(count / 2), Math.floor(count / 2) + 1]);
      return lower === undefined || upper === undefined ? null : midpoint(lower, upper);
    },
    p10: () => atRanks(levels(), [Math.ceil(count / 10)])[0] ?? null,
    state: () =>
      exact === undefined
        ? { is_exact: false, levels: [...bins.entries()].filter(([, times]) => times > 0).flat() }
        : { is_exact: true, levels: toCounts(exact) },
    merge({ is_exact: isExact, levels: others }) {
      count += sumCounts(others);
      if (!isExact) toBins();
      if (exact !== undefined) {
        addCounts(exact, others);
        if (exact.size > maxDistinct) toBins();
        return;
      }
      for (let at = 0; at < others.length; at += 2) {
        const score = isExact ? (others[at] ?? 0) : (others[at] ?? 0) / binsPerUnit;
        addToBin(score, others[at + 1] ?? 0);
      }
    },
  };
}

function* binLevels(bins: Float64Array, binsPerUnit: number): Generator<readonly [number, number]> {
  for (const [bin, times] of bins.entries()) {
    if (times > 0) yield [bin / binsPerUnit, times];
  }
}

/** The values at these rising ranks, from 1, of values with their counts in rising order. */
export function atRanks(
  levels: Iterable<readonly [value: number, times: number]>,
  ranks: readonly number[],
): number[] {
  const found: number[] = [];
  let below = 0;
  for (const [value, times] of levels) {
    below += times;
    for (let rank = ranks[found.length]; rank !== undefined && rank <= below; rank = ranks[found.length]) {
      found.push(value);
    }
    if (found.length === ranks.length) break;
  }
  return found;
}
