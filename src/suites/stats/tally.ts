import {
  divide,
  type Exact,
  exact,
  multiply,
  newDecimalSum,
  add as plus,
  type Root,
  share,
  subtract,
  toDouble,
} from '../../base/json/decimal.ts';
import { members, number, type TypeOf } from '../../base/json/shape.ts';
import type { Interval, Stats } from '../record.ts';
import { distributionState, fine, newDistribution, type Precision } from './distribution.ts';
import { isFlaky } from './epoch-reduction.ts';
import { combine, decimalSumState, groupsOf, type Mergeable, newCounters } from './mergeable.ts';

export interface TallyInput {
  readonly score: number | null;
  readonly passed: boolean;
  readonly fault?: boolean | undefined;
  readonly epochs: number;
  readonly passedEpochs: number;
}

/** Case statistics in bounded memory. The order of cases does not change a digit. */
export interface Tally extends Mergeable<TallyState> {
  add(result: TallyInput): void;
  stats(): Stats;
  /** Gates compare unrounded metrics; the other members of `Stats` are doubles. */
  exactly(): ExactMetrics;
}

export type ExactMetrics = Readonly<Record<string, Exact | Root | null>>;

type TallyState = TypeOf<typeof tallyState>;

export const tallyState = members({
  count: number,
  scored: number,
  passed: number,
  faults: number,
  sum: decimalSumState,
  squares: decimalSumState,
  scores: distributionState,
  /** Flat triples: epochs, passed epochs, number of such cases. */
  epochs: groupsOf(3),
});

/** `epochs` is the number of runs per case. pass@k and pass^k need several. */
export function newTally(epochs: number, precision: Precision = fine): Tally {
  const counters = newCounters(['count', 'scored', 'passed', 'faults']);
  const { counts } = counters;
  const sums = {
    ...{ sum: newDecimalSum(), squares: newDecimalSum() },
    ...{ scores: newDistribution(precision), epochs: newEpochTable() },
  };
  const parts = combine(sums);
  const table = sums.epochs;
  const exactly = (): ExactMetrics => {
    const { count, scored, passed, faults } = counts;
    const [sum, squares] = [sums.sum.exact(), sums.squares.exact()];
    return {
      mean: scored === 0 ? null : divide(sum, exact(scored)),
      stderr: standardError(scored, sum, squares),
      median: sums.scores.median(),
      unscored: shareOf(count - scored, count),
      faults: shareOf(faults, count),
      pass_rate: shareOf(passed, count),
      flaky: shareOf(table.flaky(), count),
      ...(epochs > 1 && mapEntries(table.passAt(epochs), (k, chance) => [`pass@${k}`, chance])),
      ...(epochs > 1 && mapEntries(table.passHat(epochs), (k, chance) => [`pass^${k}`, chance])),
    };
  };
  return {
    add(result) {
      counts.count += 1;
      if (result.passed) counts.passed += 1;
      if (result.fault === true) counts.faults += 1;
      table.add(result.epochs, result.passedEpochs);
      if (result.score === null) return;
      counts.scored += 1;
      sums.sum.add(result.score);
      sums.squares.addProduct(result.score, result.score);
      sums.scores.add(result.score);
    },
    exactly,
    stats() {
      const { count, scored, passed, faults } = counts;
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
        p10: sums.scores.p10(),
        flaky: table.flaky(),
        ...(epochs > 1 && {
          pass_at: mapEntries(table.passAt(epochs), (k, chance) => [k, toDouble(chance)]),
          pass_hat: mapEntries(table.passHat(epochs), (k, chance) => [k, toDouble(chance)]),
        }),
      };
    },
    state: () => ({ ...counters.state(), ...parts.state() }),
    merge(other) {
      counters.merge(other);
      parts.merge(other);
    },
  };
}

/**
 * The standard error of the mean of case scores. The epochs of a case are not independent, so they form one cluster.
 * They are already reduced to one score, whose spread between cases includes the spread within. With equal epochs per
 * case and the `mean` reducer, this is the usual cluster-robust error, including C/(C−1).
 */
function standardError(count: number, sum: Exact, squares: Exact): Root | null {
  if (count < 2) return null;
  const around = subtract(squares, divide(multiply(sum, sum), exact(count)));
  return { rootOf: divide(around, exact(count * (count - 1))) };
}

function shareOf(part: number, whole: number): Exact | null {
  return whole === 0 ? null : share(part, whole);
}

function mapEntries<Value, Other>(
  record: Readonly<Record<string, Value>>,
  change: (key: string, value: Value) => readonly [string, Other],
): Record<string, Other> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => change(key, value)));
}

/** 95 % of a normal distribution lies within this many standard deviations. */
export const z95 = 1.959963984540054;

/** The 95 % interval of a share (Wilson, 1927), which also works for few cases and shares near 0 and 1. */
export function wilsonInterval(passed: number, count: number): Interval | null {
  if (count === 0) return null;
  const share = passed / count;
  const square = z95 ** 2;
  const spread = 1 + square / count;
  const centre = (share + square / (2 * count)) / spread;
  const half = (z95 / spread) * Math.sqrt((share * (1 - share)) / count + square / (4 * count ** 2));
  return [passed === 0 ? 0 : centre - half, passed === count ? 1 : centre + half];
}

export function meanInterval(mean: number | null, stderr: number | null): Interval | null {
  if (mean === null || stderr === null) return null;
  return [Math.max(0, mean - z95 * stderr), Math.min(1, mean + z95 * stderr)];
}

interface EpochTable extends Mergeable<readonly number[]> {
  add(epochs: number, passed: number): void;
  flaky(): number;
  /** pass@k: the mean probability that one of k epochs passes, by k from 1. Omits a k that no case has epochs for. */
  passAt(maxK: number): Record<string, Exact>;
  passHat(maxK: number): Record<string, Exact>;
}

export function newEpochTable(): EpochTable {
  const cells = new Map<string, { readonly n: number; readonly c: number; cases: number }>();
  /** The mean over cases of the probability that all k drawn epochs are good, by k. */
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
    // One of k passes unless all k are among the failed ones.
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
