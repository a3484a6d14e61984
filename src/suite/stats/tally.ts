import { members, number, type Shape } from '../../json/shape.ts';
import type { Stats } from '../run/record.ts';
import {
  type DistributionState,
  distributionState,
  fine,
  newDistribution,
  type Precision,
} from './distribution.ts';
import { type EpochTable, epochTableState, newEpochTable } from './epoch-table.ts';
import { newExactSum } from './exact-sum.ts';
import { meanInterval, wilsonInterval } from './intervals.ts';
import { groupsOf, type Mergeable } from './mergeable.ts';

/** What a tally needs to know of a case. */
export interface TallyInput {
  /** Null when unscored. */
  readonly score: number | null;
  readonly passed: boolean;
  /** How many epochs were judged, and how many of them passed. */
  readonly epochs: number;
  readonly passedEpochs: number;
}

/** Statistics of cases in bounded memory: the same to the last digit in any order. */
export interface Tally extends Mergeable<TallyState> {
  add(result: TallyInput): void;
  stats(): Stats;
}

export interface TallyState {
  readonly count: number;
  readonly scored: number;
  readonly passed: number;
  readonly sum: readonly number[];
  readonly squares: readonly number[];
  readonly scores: DistributionState;
  readonly epochs: readonly number[];
}

export const tallyState: Shape<TallyState> = members<TallyState>({
  count: number,
  scored: number,
  passed: number,
  sum: groupsOf(1),
  squares: groupsOf(1),
  scores: distributionState,
  epochs: epochTableState,
});

/**
 * `epochs` is how often each case is run; pass@k and pass^k are part of the statistics only with more than
 * one.
 */
export function newTally(epochs: number, precision: Precision = fine): Tally {
  let [count, scored, passed] = [0, 0, 0];
  const sum = newExactSum();
  const squares = newExactSum();
  const distribution = newDistribution(precision);
  const table = newEpochTable();
  return {
    add(result) {
      count += 1;
      if (result.passed) passed += 1;
      table.add(result.epochs, result.passedEpochs);
      if (result.score === null) return;
      scored += 1;
      sum.add(result.score);
      squares.add(result.score ** 2);
      distribution.add(result.score);
    },
    stats() {
      const mean = scored === 0 ? null : sum.value() / scored;
      const moments = { count: scored, sum: sum.value(), squares: squares.value() };
      const stderr = distribution.isConstant() && scored > 1 ? 0 : standardError(moments);
      return {
        count,
        scored,
        unscored: count - scored,
        unscored_share: count === 0 ? null : (count - scored) / count,
        passed,
        pass_rate: count === 0 ? null : passed / count,
        pass_rate_ci95: wilsonInterval(passed, count),
        mean,
        stderr,
        ci95: meanInterval(mean, stderr),
        median: distribution.median(),
        p10: distribution.p10(),
        flaky: table.flaky(),
        ...chances(table, epochs),
      };
    },
    state: () => ({
      ...{ count, scored, passed },
      sum: sum.state(),
      squares: squares.state(),
      scores: distribution.state(),
      epochs: table.state(),
    }),
    merge(other) {
      count += other.count;
      scored += other.scored;
      passed += other.passed;
      sum.merge(other.sum);
      squares.merge(other.squares);
      distribution.merge(other.scores);
      table.merge(other.epochs);
    },
  };
}

interface Moments {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

/**
 * Of the mean of the scores of cases. The epochs of a case are not independent, so they are one cluster: they have
 * been reduced to one score, whose spread between cases holds that within them. With as many epochs for each case
 * and the mean as their reducer, this is the usual cluster-robust error, C/(C−1) included.
 */
function standardError({ count, sum, squares }: Moments): number | null {
  if (count < 2) return null;
  const variance = Math.max(0, squares - sum ** 2 / count) / (count - 1);
  return Math.sqrt(variance / count);
}

function chances(table: EpochTable, epochs: number): Pick<Stats, 'pass_at' | 'pass_hat'> {
  return epochs < 2 ? {} : { pass_at: table.passAt(epochs), pass_hat: table.passHat(epochs) };
}
