import {
  divide,
  type Exact,
  exact,
  multiply,
  newDecimalSum,
  type Root,
  share,
  subtract,
  toDouble,
} from '../../base/json/decimal.ts';
import { members, number, optional, type Shape } from '../../base/json/shape.ts';
import type { Interval, Stats } from '../record.ts';
import {
  type DistributionState,
  distributionState,
  fine,
  newDistribution,
  type Precision,
} from './distribution.ts';
import { epochTableState, newEpochTable } from './epoch-table.ts';
import { type DecimalSumState, decimalSumState, type Mergeable } from './mergeable.ts';

/** What a tally needs to know of a case. */
export interface TallyInput {
  /** Null when unscored. */
  readonly score: number | null;
  readonly passed: boolean;
  readonly fault?: boolean | undefined;
  /** How many epochs were judged, and how many of them passed. */
  readonly epochs: number;
  readonly passedEpochs: number;
}

/** Statistics of cases in bounded memory: the same to the last digit in any order. */
export interface Tally extends Mergeable<TallyState> {
  add(result: TallyInput): void;
  stats(): Stats;
  /** Metrics before they are rounded to doubles, which is how gates compare them; the others of `Stats` are doubles. */
  exactly(): ExactMetrics;
}

/** By the names of gates. */
export type ExactMetrics = Readonly<Record<string, Exact | Root | null>>;

export interface TallyState {
  readonly count: number;
  readonly scored: number;
  readonly passed: number;
  /** Absent in tallies of an earlier Signalbox. */
  readonly faults?: number;
  readonly sum: DecimalSumState;
  readonly squares: DecimalSumState;
  readonly scores: DistributionState;
  readonly epochs: readonly number[];
}

export const tallyState: Shape<TallyState> = members<TallyState>({
  count: number,
  scored: number,
  passed: number,
  faults: optional(number),
  sum: decimalSumState,
  squares: decimalSumState,
  scores: distributionState,
  epochs: epochTableState,
});

/**
 * `epochs` is how often each case is run; pass@k and pass^k are part of the statistics only with more than
 * one.
 */
export function newTally(epochs: number, precision: Precision = fine): Tally {
  let [count, scored, passed, faults] = [0, 0, 0, 0];
  const sum = newDecimalSum();
  const squares = newDecimalSum();
  const distribution = newDistribution(precision);
  const table = newEpochTable();
  const exactly = (): ExactMetrics => {
    const mean = scored === 0 ? null : divide(sum.exact(), exact(scored));
    return {
      mean,
      stderr: standardError({ count: scored, sum: sum.exact(), squares: squares.exact() }),
      median: distribution.median(),
      unscored: shareOf(count - scored, count),
      faults: shareOf(faults, count),
      pass_rate: shareOf(passed, count),
      flaky: shareOf(table.flaky(), count),
      ...(epochs > 1 && named('pass@', table.passAt(epochs))),
      ...(epochs > 1 && named('pass^', table.passHat(epochs))),
    };
  };
  return {
    add(result) {
      count += 1;
      if (result.passed) passed += 1;
      if (result.fault === true) faults += 1;
      table.add(result.epochs, result.passedEpochs);
      if (result.score === null) return;
      scored += 1;
      sum.add(result.score);
      squares.addProduct(result.score, result.score);
      distribution.add(result.score);
    },
    exactly,
    stats() {
      const metrics = exactly();
      const rounded = (name: string): number | null => {
        const metric = metrics[name];
        return metric === null || metric === undefined ? null : toDouble(metric);
      };
      const [mean, stderr] = [rounded('mean'), rounded('stderr')];
      return {
        count,
        scored,
        unscored: count - scored,
        unscored_share: rounded('unscored'),
        faults,
        passed,
        pass_rate: rounded('pass_rate'),
        pass_rate_ci95: wilsonInterval(passed, count),
        mean,
        stderr,
        ci95: meanInterval(mean, stderr),
        median: rounded('median'),
        p10: distribution.p10(),
        flaky: table.flaky(),
        ...(epochs > 1 && {
          pass_at: mapValues(table.passAt(epochs), toDouble),
          pass_hat: mapValues(table.passHat(epochs), toDouble),
        }),
      };
    },
    state: () => ({
      ...{ count, scored, passed, faults },
      sum: sum.state(),
      squares: squares.state(),
      scores: distribution.state(),
      epochs: table.state(),
    }),
    merge(other) {
      count += other.count;
      scored += other.scored;
      passed += other.passed;
      faults += other.faults ?? 0;
      sum.merge(other.sum);
      squares.merge(other.squares);
      distribution.merge(other.scores);
      table.merge(other.epochs);
    },
  };
}

interface Moments {
  readonly count: number;
  readonly sum: Exact;
  readonly squares: Exact;
}

/**
 * Of the mean of the scores of cases. The epochs of a case are not independent, so they are one cluster: they have
 * been reduced to one score, whose spread between cases holds that within them. With as many epochs for each case
 * and the mean as their reducer, this is the usual cluster-robust error, C/(C−1) included.
 */
function standardError({ count, sum, squares }: Moments): Root | null {
  if (count < 2) return null;
  const around = subtract(squares, divide(multiply(sum, sum), exact(count)));
  return { rootOf: divide(around, exact(count * (count - 1))) };
}

function shareOf(part: number, whole: number): Exact | null {
  return whole === 0 ? null : share(part, whole);
}

function named(prefix: string, chances: Readonly<Record<string, Exact>>): Record<string, Exact> {
  return Object.fromEntries(Object.entries(chances).map(([k, chance]) => [`${prefix}${k}`, chance]));
}

function mapValues<Value, Other>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

/** Standard deviations on either side that hold 95 % of a normal distribution. */
const z95 = 1.959963984540054;

/** The 95 % interval of a share (Wilson, 1927): of use for few cases and for shares near 0 and 1, too. */
export function wilsonInterval(passed: number, count: number): Interval | null {
  if (count === 0) return null;
  const share = passed / count;
  const square = z95 ** 2;
  const spread = 1 + square / count;
  const centre = (share + square / (2 * count)) / spread;
  const half = (z95 / spread) * Math.sqrt((share * (1 - share)) / count + square / (4 * count ** 2));
  return [passed === 0 ? 0 : centre - half, passed === count ? 1 : centre + half];
}

/** The 95 % interval of a mean of scores, which lie in 0..1. */
export function meanInterval(mean: number | null, stderr: number | null): Interval | null {
  if (mean === null || stderr === null) return null;
  return [Math.max(0, mean - z95 * stderr), Math.min(1, mean + z95 * stderr)];
}
