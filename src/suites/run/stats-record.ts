// The statistics of a run, as plain JSON values.

/** The statistics of a group of cases, for one eval or for whole cases. Rates and scores are 0..1. */
export interface Stats {
  readonly count: number;
  readonly scored: number;
  readonly unscored: number;
  /** unscored / count; null when there was no result. */
  readonly unscored_share: number | null;
  /** Results of which a fault left an epoch without a score; absent in older runs. */
  readonly faults?: number;
  readonly passed: number;
  /** Of all results, unscored ones included; null when there was none. */
  readonly pass_rate: number | null;
  /** 95 % interval of the pass rate (Wilson). */
  readonly pass_rate_ci95: Interval | null;
  /** Of the scored ones, as all that follows; null when nothing was scored. */
  readonly mean: number | null;
  /** Standard error of the mean, with the epochs of a case as one cluster; null with fewer than two cases. */
  readonly stderr: number | null;
  /** 95 % interval of the mean. */
  readonly ci95: Interval | null;
  readonly median: number | null;
  /** The score that a tenth of the cases do not exceed. */
  readonly p10: number | null;
  /** Cases of which some epochs passed and others did not. */
  readonly flaky: number;
  /** The chance that of k epochs one passes, by k from 1; only with several epochs. */
  readonly pass_at?: Readonly<Record<string, number>>;
  /** The chance that of k epochs all pass, by k from 1; only with several epochs. */
  readonly pass_hat?: Readonly<Record<string, number>>;
}

export type Interval = readonly [low: number, high: number];

export interface EvalStats extends Stats {
  /** How the scores are spread: cases by tenth, [0, 0.1) first, 1 in the last. */
  readonly histogram: readonly number[];
  /** Milliseconds of one ask, from when it had a slot of the pool. */
  readonly latency_ms: Latency | null;
  /** Milliseconds that one ask waited for its slot; unknown of older runs. */
  readonly queue_ms?: Latency | null;
  /** Only of guards. */
  readonly classification?: Classification;
  /** How far its verdicts are those of people; absent where no case has a label. */
  readonly agreement?: Agreement;
  /** In alphabetical order. */
  readonly tags: Readonly<Record<string, Stats & { readonly classification?: Classification }>>;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** How far the verdicts of an eval are those of people, over the cases that have both. */
export interface Agreement {
  /** Cases with a score and a label. */
  readonly n: number;
  readonly both_passed: number;
  readonly only_eval: number;
  readonly only_person: number;
  readonly both_failed: number;
  /** The share of cases with the same verdict. */
  readonly observed: number;
  /** Cohen's kappa, -1..1; null where both always gave the same verdict. */
  readonly kappa: number | null;
  /** Standard error of kappa, for large samples. */
  readonly stderr: number | null;
  /** 95 % interval of kappa. */
  readonly ci95: Interval | null;
}

/** How well a guardrail flags what it should. Ratios are null where their denominator is 0. */
export interface Classification {
  readonly true_positives: number;
  readonly false_positives: number;
  readonly true_negatives: number;
  readonly false_negatives: number;
  readonly precision: number | null;
  readonly recall: number | null;
  readonly f1: number | null;
  /** Recall counts twice as much as precision. */
  readonly f2: number | null;
  readonly accuracy: number | null;
  /** Area under the ROC curve; null unless every decision came with a confidence. */
  readonly auc: number | null;
  /** Points of the ROC curve, by falling confidence, at most 101; absent without confidences. */
  readonly roc?: readonly { readonly threshold: number; readonly tpr: number; readonly fpr: number }[];
  /** Milliseconds by hook. */
  readonly latency_ms: Readonly<Record<string, Latency>>;
}

/** The statistics of whole cases: `mean`, `median` and so on are of their weighted scores. */
export interface CaseStats extends Stats {
  readonly tags: Readonly<Record<string, Stats>>;
}
