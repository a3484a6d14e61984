import type { Latency } from '../record.ts';
import { atRanks } from './distribution.ts';
import { addCounts, type Counts, type Mergeable, sumCounts, toCounts } from './mergeable.ts';

/** Quantiles of durations in bounded memory, within 1 % and the same in whatever order they come. */
export interface LatencySketch extends Mergeable<Counts> {
  /** In milliseconds. */
  add(durationMs: number): void;
  /** Null when there is no duration. */
  latency(): Latency | null;
  /** The durations that so many of a hundred do not exceed; none when there is no duration. */
  percentiles(percents: readonly number[]): number[];
}

/** Counts durations in bins whose edges grow by a constant factor (Masson et al., "DDSketch", 2019). */
export function newLatencySketch(): LatencySketch {
  const bins = new Map<number, number>();
  let count = 0;
  return {
    add(durationMs) {
      const bin = binOf(durationMs);
      bins.set(bin, (bins.get(bin) ?? 0) + 1);
      count += 1;
    },
    latency() {
      const levels = [...bins].sort(([a], [b]) => a - b);
      const [p50, p99] = atRanks(levels, [Math.ceil(count / 2), Math.ceil((count * 99) / 100)]);
      return p50 === undefined || p99 === undefined
        ? null
        : { p50: millisecondsOf(p50), p99: millisecondsOf(p99) };
    },
    percentiles(percents) {
      const levels = [...bins].sort(([a], [b]) => a - b);
      const found = atRanks(
        levels,
        percents.map((percent) => Math.ceil((count * percent) / 100)),
      );
      return count === 0 ? [] : found.map(millisecondsOf);
    },
    state: () => toCounts(bins),
    merge(other) {
      addCounts(bins, other);
      count += sumCounts(other);
    },
  };
}

/** Neighbouring edges differ by 1 %, so that the middle of a bin is within half a percent of all in it. */
const growth = 1.01;
const logOfGrowth = Math.log(growth);
/** A microsecond; shorter durations count as 0. The longest is three years. */
const shortestMs = 0.001;
const longestMs = 1e11;
const zeroBin = -1;

function binOf(ms: number): number {
  if (!(ms >= shortestMs)) return zeroBin;
  return Math.ceil(Math.log(Math.min(ms, longestMs) / shortestMs) / logOfGrowth);
}

/** The middle of a bin, to the three digits that its width allows. */
function millisecondsOf(bin: number): number {
  if (bin === zeroBin) return 0;
  const middle = (2 * shortestMs * growth ** bin) / (1 + growth);
  return Number(middle.toPrecision(3));
}
