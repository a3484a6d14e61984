import type { Interval } from './stats-record.ts';

/** The difference between two sides over all pairs of their cases; scores are 0..1. */
export interface PairedDifference {
  readonly pairs: number;
  readonly only_in_a: number;
  readonly only_in_b: number;
  /** Pairs by their verdicts. */
  readonly table: {
    readonly both_passed: number;
    readonly only_a_passed: number;
    readonly only_b_passed: number;
    readonly neither_passed: number;
  };
  /** Of A passed, of B not, and neither is flaky. */
  readonly regressions: number;
  /** The other way round. */
  readonly improvements: number;
  /** Pairs of which, on either side, some epochs passed and others did not. */
  readonly flaky: number;
  readonly pass_rate: { readonly a: number | null; readonly b: number | null };
  /** Chance of verdicts as different as `table` if nothing had changed (exact McNemar test); null without pairs. */
  readonly p_value: number | null;
  readonly unscored: {
    readonly only_in_a: number;
    readonly only_in_b: number;
    readonly both: number;
  };
  /** Of the pairs with two scores; null when there is none. */
  readonly score: ScoreDifference | null;
}

export interface ScoreDifference {
  readonly pairs: number;
  /** Pairs with the same score on both sides. */
  readonly ties: number;
  readonly mean_a: number;
  readonly mean_b: number;
  /** Mean of B − A over the pairs. */
  readonly difference: number;
  /** Null with a single pair, as the interval. */
  readonly stderr: number | null;
  readonly ci95: Interval | null;
  /** Chance of a difference as large if the sides could be swapped in every pair; null with a single pair. */
  readonly p_value: number | null;
  readonly test: 'sign_flip' | 'paired_t';
}
