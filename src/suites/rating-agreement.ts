import type { Agreement } from './run/stats-record.ts';

/** How far the evals of a run agree with the people who have rated its cases, and those with one another. */
export interface RatingAgreement extends RatedCases {
  readonly run_id: string;
  readonly suite: string;
  /** The least score of a person that counts as passed. */
  readonly min_score: number;
  /**
   * Only of a matrix: each variant that was rated, in the order of the suite. What stands beside them is over all variants, whose cases
   * are not independent: without standard errors and intervals, and without the cases, which stand with their variants.
   */
  readonly variants?: readonly VariantAgreement[];
}

interface VariantAgreement extends RatedCases {
  readonly name: string;
}

/** What was rated, by evals and as wholes. */
export interface RatedCases {
  /** By eval, of ratings that name one. */
  readonly evals: Readonly<Record<string, RatedVerdicts>>;
  /** Of ratings of cases as wholes, against whether the case passed; null where there is none. */
  readonly cases: RatedVerdicts | null;
}

/** What is rated, against each person, and each two people against one another. */
export interface RatedVerdicts {
  readonly people: readonly PersonAgreement[];
  readonly between: readonly PairAgreement[];
}

export interface PersonAgreement {
  readonly by: string;
  /** What the person has rated. */
  readonly ratings: number;
  /** Ratings that are no verdict: a comment alone, or a word of the person's own without a score. */
  readonly without_verdict: number;
  /** Rated cases that the eval did not score, or that the run does not have. */
  readonly unscored: number;
  /** Null where nothing can be compared. */
  readonly agreement: Agreement | null;
  /** In the order of the dataset. */
  readonly disagreements: readonly Disagreement[];
}

/** A case of which a person thinks otherwise than the eval, or than the run. */
export interface Disagreement {
  readonly case: string;
  readonly eval_passed: boolean;
  /** Null of a case as a whole that has none. */
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
  /** Cases of which the two think differently, in the order of the dataset. */
  readonly disagreements: readonly string[];
}

export interface RatingAgreementOptions {
  /** Only this variant; a run without variants is taken as it is. */
  readonly variant?: string | undefined;
  /** One eval alone. */
  readonly eval?: string | undefined;
  /** These people alone. */
  readonly by?: readonly string[] | undefined;
  /** The least score of a person that counts as passed: 0.5 by default. */
  readonly minScore?: number | undefined;
}
