import type { Role } from '../file/model.ts';
import type { Classification, Interval } from '../run/record.ts';
import type { Decisions } from './decisions.ts';

// The comparison of two runs, or of two sides of one, as plain JSON values. A is the old side, B the new
// one.

export interface Comparison {
  readonly a: SideInfo;
  readonly b: SideInfo;
  /** The cases as wholes; null when one eval was compared with another, and of shadows. */
  readonly cases: Difference | null;
  /** In the order of A. */
  readonly evals: readonly EvalDifference[];
  /** Evals that the other side does not have. */
  readonly evals_only_in_a: readonly string[];
  readonly evals_only_in_b: readonly string[];
}

export interface SideInfo {
  readonly run_id: string;
  /** What a hook in shadow mode would have decided, rather than a run of a suite. */
  readonly kind?: 'shadow';
  readonly suite: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Only its cases were compared. */
  readonly tag?: string;
  /** Only its results were compared. */
  readonly eval?: string;
  /** How many cases were compared or looked for on the other side. */
  readonly cases: number;
  /** False of a run that did not come to its end; a shadow has none. */
  readonly is_complete: boolean;
}

export interface EvalDifference extends Difference {
  /** The eval's id on both sides. */
  readonly eval_a: string;
  readonly eval_b: string;
  readonly role: Role;
  /** Only of guards: over the decisions of the pairs. */
  readonly classification?: { readonly a: ComparedClassification; readonly b: ComparedClassification };
  /** Likewise. */
  readonly decisions?: { readonly a: Decisions; readonly b: Decisions };
}

export type ComparedClassification = Omit<Classification, 'latency_ms' | 'roc'>;

/** The difference over all pairs of cases; scores are 0..1. */
export interface Difference {
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
  /** The first 50, in the order of B. */
  readonly first_regressions: readonly Change[];
  readonly first_improvements: readonly Change[];
}

export interface ScoreDifference {
  readonly pairs: number;
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

/** A case whose verdict changed. */
export interface Change {
  readonly case: string;
  readonly a: SideResult;
  readonly b: SideResult;
}

export interface SideResult {
  readonly file: string;
  readonly line: number;
  /** Null when unscored. */
  readonly score: number | null;
  readonly detail: string;
}
