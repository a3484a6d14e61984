import {
  listOf,
  type MembersOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  recordOf,
  shapeOf,
  text,
} from '../../base/json/shape.ts';

// The statistics of a run, as plain JSON values: each shape is what a stored one has to be, and gives its type.

export type Interval = readonly [low: number, high: number];

export const interval = shapeOf(
  (value): value is Interval =>
    Array.isArray(value) && value.length === 2 && value.every((bound) => typeof bound === 'number'),
);

/** The statistics of a group of cases, for one eval or for whole cases. Rates and scores are 0..1. */
export interface Stats extends MembersOf<typeof statsMembers> {}
const statsMembers = {
  count: number,
  scored: number,
  unscored: number,
  /** unscored / count; null when there was no result. */
  unscored_share: nullOr(number),
  /** Results of which a fault left an epoch without a score; absent in older runs. */
  faults: optional(number),
  passed: number,
  /** Of all results, unscored ones included; null when there was none. */
  pass_rate: nullOr(number),
  /** 95 % interval of the pass rate (Wilson). */
  pass_rate_ci95: nullOr(interval),
  /** Of the scored ones, as all that follows; null when nothing was scored. */
  mean: nullOr(number),
  /** Standard error of the mean, with the epochs of a case as one cluster; null with fewer than two cases. */
  stderr: nullOr(number),
  /** 95 % interval of the mean. */
  ci95: nullOr(interval),
  median: nullOr(number),
  /** The score that a tenth of the cases do not exceed. */
  p10: nullOr(number),
  /** Cases of which some epochs passed and others did not. */
  flaky: number,
  /** The chance that of k epochs one passes, by k from 1; only with several epochs. */
  pass_at: optional(recordOf(number)),
  /** The chance that of k epochs all pass, by k from 1; only with several epochs. */
  pass_hat: optional(recordOf(number)),
};
const stats = members<Stats>(statsMembers);

export interface Latency extends MembersOf<typeof latencyMembers> {}
const latencyMembers = { p50: number, p99: number };
const latency = members<Latency>(latencyMembers);

/** How well a guardrail flags what it should. Ratios are null where their denominator is 0. */
export interface Classification extends MembersOf<typeof classificationMembers> {}
const classificationMembers = {
  true_positives: number,
  false_positives: number,
  true_negatives: number,
  false_negatives: number,
  precision: nullOr(number),
  recall: nullOr(number),
  f1: nullOr(number),
  /** Recall counts twice as much as precision. */
  f2: nullOr(number),
  accuracy: nullOr(number),
  /** Area under the ROC curve; null unless every decision came with a confidence. */
  auc: nullOr(number),
  /** Points of the ROC curve, by falling confidence, at most 101; absent without confidences. */
  roc: optional(listOf(members({ threshold: number, tpr: number, fpr: number }))),
  /** Milliseconds by hook. */
  latency_ms: recordOf(latency),
};
const classification = members<Classification>(classificationMembers);

/** How far the verdicts of an eval are those of people, over the cases that have both. */
export interface Agreement extends MembersOf<typeof agreementMembers> {}
const agreementMembers = {
  /** Cases with a score and a label. */
  n: number,
  both_passed: number,
  only_eval: number,
  only_person: number,
  both_failed: number,
  /** The share of cases with the same verdict. */
  observed: number,
  /** Cohen's kappa, -1..1; null where both always gave the same verdict. */
  kappa: nullOr(number),
  /** Standard error of kappa, for large samples. */
  stderr: nullOr(number),
  /** 95 % interval of kappa. */
  ci95: nullOr(interval),
};
const agreement = members<Agreement>(agreementMembers);

interface TagStats extends MembersOf<typeof tagStatsMembers> {}
const tagStatsMembers = { ...statsMembers, classification: optional(classification) };

export interface EvalStats extends MembersOf<typeof evalStatsMembers> {}
const evalStatsMembers = {
  ...statsMembers,
  /** How the scores are spread: cases by tenth, [0, 0.1) first, 1 in the last. */
  histogram: listOf(number),
  /** Milliseconds of one ask, from when it had a slot of the pool. */
  latency_ms: nullOr(latency),
  /** Milliseconds that one ask waited for its slot; unknown of older runs. */
  queue_ms: optional(nullOr(latency)),
  /** Only of guards. */
  classification: optional(classification),
  /** How far its verdicts are those of people; absent where no case has a label. */
  agreement: optional(agreement),
  /** In alphabetical order. */
  tags: recordOf(members<TagStats>(tagStatsMembers)),
};
export const evalStats = members<EvalStats>(evalStatsMembers);

/** The statistics of whole cases: `mean`, `median` and so on are of their weighted scores. */
export interface CaseStats extends MembersOf<typeof caseStatsMembers> {}
const caseStatsMembers = { ...statsMembers, tags: recordOf(stats) };
export const caseStats = members<CaseStats>(caseStatsMembers);

/** Milliseconds; the percentiles are within 1 %. */
export interface Times extends MembersOf<typeof timesMembers> {}
const timesMembers = { p50: number, p95: number, p99: number, sum: number };
const times = members<Times>(timesMembers);

/** What the answers of a run took, whether its subject made them or they were recorded with these figures. */
export interface Totals extends MembersOf<typeof totalsMembers> {}
const totalsMembers = {
  /** One for each run of a case. */
  answers: number,
  /** Those from the cache; their tokens and cost are those of the first time. */
  cached: number,
  /** Those of which there is none, only a fault. */
  failed: number,
  /** Null where no answer tells, as the two below. */
  input_tokens: nullOr(number),
  output_tokens: nullOr(number),
  /** US dollars. */
  cost_usd: nullOr(number),
  /** How many answers do not tell theirs: the sums are at least what they say. */
  unknown: members({ tokens: number, cost_usd: number }),
  /** Of answers that were made, without the time in queues. */
  answer_ms: nullOr(times),
  /** How long these waited for slots; null where that is unknown. */
  queue_ms: nullOr(times),
};
export const totals = members<Totals>(totalsMembers);

export interface ScoreDifference extends MembersOf<typeof scoreDifferenceMembers> {}
const scoreDifferenceMembers = {
  pairs: number,
  /** Pairs with the same score on both sides. */
  ties: number,
  mean_a: number,
  mean_b: number,
  /** Mean of B − A over the pairs. */
  difference: number,
  /** Null with a single pair, as the interval. */
  stderr: nullOr(number),
  ci95: nullOr(interval),
  /** Chance of a difference as large if the sides could be swapped in every pair; null with a single pair. */
  p_value: nullOr(number),
  test: oneOf('sign_flip', 'paired_t'),
};
const scoreDifference = members<ScoreDifference>(scoreDifferenceMembers);

/** The difference between two sides over all pairs of their cases; scores are 0..1. */
export interface PairedDifference extends MembersOf<typeof pairedDifferenceMembers> {}
const pairedDifferenceMembers = {
  pairs: number,
  only_in_a: number,
  only_in_b: number,
  /** Pairs by their verdicts. */
  table: members({
    both_passed: number,
    only_a_passed: number,
    only_b_passed: number,
    neither_passed: number,
  }),
  /** Of A passed, of B not, and neither is flaky. */
  regressions: number,
  /** The other way round. */
  improvements: number,
  /** Pairs of which, on either side, some epochs passed and others did not. */
  flaky: number,
  pass_rate: members({ a: nullOr(number), b: nullOr(number) }),
  /** Chance of verdicts as different as `table` if nothing had changed (exact McNemar test); null without pairs. */
  p_value: nullOr(number),
  unscored: members({ only_in_a: number, only_in_b: number, both: number }),
  /** Of the pairs with two scores; null when there is none. */
  score: nullOr(scoreDifference),
};
const pairedDifference = members<PairedDifference>(pairedDifferenceMembers);

/** A variant of the subject. */
export interface VariantHeader extends MembersOf<typeof variantMembers> {}
const variantMembers = {
  /** Unique in the suite. */
  name: text,
  /** The provider that answers; absent where the variant is no chat. */
  provider: optional(text),
  /** The prompt, where the suite has several. */
  prompt: optional(text),
};
export const variantHeader = members<VariantHeader>(variantMembers);

/** What the cases of one variant came to; nothing of another variant counts in it. */
export interface VariantReport extends MembersOf<typeof variantReportMembers> {}
const variantReportMembers = {
  ...variantMembers,
  status: oneOf('passed', 'failed', 'error'),
  cases: number,
  /** Rows that this variant could not use. */
  problem_count: number,
  overall: caseStats,
  evals: recordOf(evalStats),
  /** What its answers took; absent where none was made. */
  totals: optional(totals),
};
export const variantReport = members<VariantReport>(variantReportMembers);

/** One variant compared with another, case by case; differences are B − A. */
export interface VariantComparison extends MembersOf<typeof variantComparisonMembers> {}
const variantComparisonMembers = {
  /** The names of the variants. */
  a: text,
  b: text,
  /** The cases as wholes. */
  cases: pairedDifference,
  evals: recordOf(pairedDifference),
};
export const variantComparison = members<VariantComparison>(variantComparisonMembers);
