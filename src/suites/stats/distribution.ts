import { add, divide, type Exact, exact } from '../../base/json/decimal.ts';
import { flag, members, type TypeOf } from '../../base/json/shape.ts';
import type { Latency } from '../record.ts';
import { addCounts, type Counts, counts, type Mergeable, sumCounts } from './mergeable.ts';

export interface Distribution extends Mergeable<DistributionState> {
  add(score: number): void;
  median(): Exact | null;
  p10(): number | null;
}

type DistributionState = TypeOf<typeof distributionState>;

export const distributionState = members({
  is_exact: flag,
  /** Scores while exact, afterwards bin numbers. */
  levels: counts,
});

export interface Precision {
  /** Exact up to this many different scores. */
  readonly maxDistinct: number;
  /** Beyond that, scores are rounded to multiples of 1 / binsPerUnit. */
  readonly binsPerUnit: number;
}

/** At most half a megabyte. */
export const fine: Precision = { maxDistinct: 10_000, binsPerUnit: 2 ** 16 };
/** At most 40 KB, because a run may have thousands of tags. */
export const coarse: Precision = { maxDistinct: 1000, binsPerUnit: 2 ** 12 };

export function newDistribution({ maxDistinct, binsPerUnit }: Precision = fine): Distribution {
  let known: Map<number, number> | undefined = new Map();
  let bins = new Float64Array(0);
  let count = 0;
  const addToBin = (score: number, times: number) => {
    const bin = Math.round(score * binsPerUnit);
    bins[bin] = (bins[bin] ?? 0) + times;
  };
  const toBins = (): void => {
    if (known === undefined) return;
    bins = new Float64Array(binsPerUnit + 1);
    for (const [score, times] of known) addToBin(score, times);
    known = undefined;
  };
  const levels = (): Iterable<readonly [score: number, times: number]> =>
    known === undefined ? binLevels(bins, binsPerUnit) : [...known].sort(([a], [b]) => a - b);
  return {
    add(score) {
      count += 1;
      if (known === undefined) {
        addToBin(score, 1);
        return;
      }
      known.set(score, (known.get(score) ?? 0) + 1);
      if (known.size > maxDistinct) toBins();
    },
    median() {
      const [lower, upper] = atRanks(levels(), [Math.ceil(count / 2), Math.floor(count / 2) + 1]);
      return lower === undefined || upper === undefined ? null : midpoint(lower, upper);
    },
    p10: () => atRanks(levels(), [Math.ceil(count / 10)])[0] ?? null,
    state: () =>
      known === undefined
        ? { is_exact: false, levels: [...bins.entries()].filter(([, times]) => times > 0).flat() }
        : { is_exact: true, levels: [...known].flat() },
    merge({ is_exact: isExact, levels: others }) {
      count += sumCounts(others);
      if (!isExact) toBins();
      if (known !== undefined) {
        addCounts(known, others);
        if (known.size > maxDistinct) toBins();
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

export function midpoint(one: number, other: number): Exact {
  return divide(add(exact(one), exact(other)), exact(2));
}

function atRanks(
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

/** Quantiles of durations in milliseconds, in bounded memory and within 1 %. The order does not matter. */
export interface LatencySketch extends Mergeable<Counts> {
  add(durationMs: number): void;
  latency(): Latency | null;
  percentiles(percents: readonly number[]): number[];
}

/** Counts durations in bins with exponentially growing edges (Masson et al., "DDSketch", 2019). */
export function newLatencySketch(): LatencySketch {
  const bins = new Map<number, number>();
  let count = 0;
  const percentiles = (percents: readonly number[]): number[] => {
    if (count === 0) return [];
    const levels = [...bins].sort(([a], [b]) => a - b);
    const ranks = percents.map((percent) => Math.ceil((count * percent) / 100));
    return atRanks(levels, ranks).map(millisecondsOf);
  };
  return {
    add(durationMs) {
      const bin = binOf(durationMs);
      bins.set(bin, (bins.get(bin) ?? 0) + 1);
      count += 1;
    },
    latency() {
      const [p50, p99] = percentiles([50, 99]);
      return p50 === undefined || p99 === undefined ? null : { p50, p99 };
    },
    percentiles,
    state: () => [...bins].flat(),
    merge(other) {
      addCounts(bins, other);
      count += sumCounts(other);
    },
  };
}

/** Adjacent edges differ by 1 %, so the middle of a bin is within half a percent of its values. */
const growth = 1.01;
const logOfGrowth = Math.log(growth);
/** One microsecond; shorter durations count as 0. The longest is three years. */
const shortestMs = 0.001;
const longestMs = 1e11;
const zeroBin = -1;

function binOf(ms: number): number {
  if (!(ms >= shortestMs)) return zeroBin;
  return Math.ceil(Math.log(Math.min(ms, longestMs) / shortestMs) / logOfGrowth);
}

function millisecondsOf(bin: number): number {
  if (bin === zeroBin) return 0;
  const middle = (2 * shortestMs * growth ** bin) / (1 + growth);
  return Number(middle.toPrecision(3));
}
