import type { Agreement } from './run/stats-record.ts';

/** The agreement of a run's evals with its raters, and of the raters with one another. */
export interface RatingAgreement extends RatedCases {
  readonly run_id: string;
  readonly suite: string;
  /** The minimum rating score that counts as passed. */
  readonly min_score: number;
  /**
   * Only in a matrix: each rated variant, in the order of the suite. The figures beside them cover all variants, whose
   * cases are not independent. These have no standard errors, intervals or disagreements, which only the variants list.
   */
  readonly variants?: readonly VariantAgreement[];
}

interface VariantAgreement extends RatedCases {
  readonly name: string;
}

export interface RatedCases {
  /** By eval id; only evals that a rating names. */
  readonly evals: Readonly<Record<string, RatedVerdicts>>;
  /** Ratings of whole cases, compared with whether the case passed; null if there are none. */
  readonly cases: RatedVerdicts | null;
}

export interface RatedVerdicts {
  readonly people: readonly PersonAgreement[];
  readonly between: readonly PairAgreement[];
}

export interface PersonAgreement {
  readonly by: string;
  readonly ratings: number;
  /** Ratings without a verdict: a comment only, or a label of the person's own without a score. */
  readonly without_verdict: number;
  /** Rated cases that the eval did not score or that the run lacks. */
  readonly unscored: number;
  /** Null if there is nothing to compare. */
  readonly agreement: Agreement | null;
  /** In the order of the dataset. */
  readonly disagreements: readonly Disagreement[];
}

export interface Disagreement {
  readonly case: string;
  readonly eval_passed: boolean;
  /** Null for a whole case without a score. */
  readonly eval_score: number | null;
  readonly person_passed: boolean;
  readonly comment: string | null;
}

export interface PairAgreement {
  readonly by: readonly [string, string];
  readonly agreement: Omit<Agreement, 'only_eval' | 'only_person'> & {
    readonly only_first: number;
    readonly only_second: number;
  };
  /** Cases with different verdicts, in the order of the dataset. */
  readonly disagreements: readonly string[];
}

export interface RatingAgreementOptions {
  readonly variant?: string | undefined;
  readonly eval?: string | undefined;
  readonly by?: readonly string[] | undefined;
  /** The minimum rating score that counts as passed. Default: 0.5. */
  readonly minScore?: number | undefined;
}
