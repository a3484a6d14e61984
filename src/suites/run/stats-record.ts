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

// The statistics of a run as plain JSON. Each shape validates stored statistics and defines the type.

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
  /** unscored / count; null without results. */
  unscored_share: nullOr(number),
  /** Results with an epoch left unscored by a fault; absent in older runs. */
  faults: optional(number),
  passed: number,
  /** The share of all results, including unscored ones; null without results. */
  pass_rate: nullOr(number),
  /** 95 % interval of the pass rate (Wilson). */
  pass_rate_ci95: nullOr(interval),
  /** Over scored results only, like the members below; null if nothing was scored. */
  mean: nullOr(number),
  /** Standard error of the mean, with the epochs of a case as one cluster; null for fewer than two cases. */
  stderr: nullOr(number),
  /** 95 % interval of the mean. */
  ci95: nullOr(interval),
  median: nullOr(number),
  /** The score that a tenth of the cases do not exceed. */
  p10: nullOr(number),
  /** Cases with passed and failed epochs. */
  flaky: number,
  /** The probability that at least one of k epochs passes, by k from 1; only with several epochs. */
  pass_at: optional(recordOf(number)),
  /** The probability that all k epochs pass, by k from 1; only with several epochs. */
  pass_hat: optional(recordOf(number)),
};
const stats = members<Stats>(statsMembers);

export interface Latency extends MembersOf<typeof latencyMembers> {}
const latencyMembers = { p50: number, p99: number };
const latency = members<Latency>(latencyMembers);

export interface Classification extends MembersOf<typeof classificationMembers> {}
const classificationMembers = {
  true_positives: number,
  false_positives: number,
  true_negatives: number,
  false_negatives: number,
  precision: nullOr(number),
  recall: nullOr(number),
  f1: nullOr(number),
  /** Weights recall twice as much as precision. */
  f2: nullOr(number),
  accuracy: nullOr(number),
  /** Area under the ROC curve; null unless every decision has a confidence. */
  auc: nullOr(number),
  /** At most 101 points of the ROC curve, by falling confidence; absent without confidences. */
  roc: optional(listOf(members({ threshold: number, tpr: number, fpr: number }))),
  /** Milliseconds by hook. */
  latency_ms: recordOf(latency),
};
const classification = members<Classification>(classificationMembers);

export interface Agreement extends MembersOf<typeof agreementMembers> {}
const agreementMembers = {
  /** Cases with a score and a label. */
  n: number,
  both_passed: number,
  only_eval: number,
  only_person: number,
  both_failed: number,
  /** The share of cases with equal verdicts. */
  observed: number,
  /** Cohen's kappa, -1..1; null if both always gave the same verdict. */
  kappa: nullOr(number),
  /** Standard error of kappa for large samples. */
  stderr: nullOr(number),
  ci95: nullOr(interval),
};
const agreement = members<Agreement>(agreementMembers);

interface TagStats extends MembersOf<typeof tagStatsMembers> {}
const tagStatsMembers = { ...statsMembers, classification: optional(classification) };

export interface EvalStats extends MembersOf<typeof evalStatsMembers> {}
const evalStatsMembers = {
  ...statsMembers,
  /** Cases by tenth of the score: [0, 0.1) first, 1 in the last. */
  histogram: listOf(number),
  /** Milliseconds of one eval call, measured from when it gets a pool slot. */
  latency_ms: nullOr(latency),
  /** Milliseconds that one eval call waited for its slot; absent in older runs. */
  queue_ms: optional(nullOr(latency)),
  /** Only for guards. */
  classification: optional(classification),
  /** The agreement of its verdicts with people; absent if no case has a label. */
  agreement: optional(agreement),
  /** In alphabetical order. */
  tags: recordOf(members<TagStats>(tagStatsMembers)),
};
export const evalStats = members<EvalStats>(evalStatsMembers);

export interface CaseStats extends MembersOf<typeof caseStatsMembers> {}
const caseStatsMembers = { ...statsMembers, tags: recordOf(stats) };
export const caseStats = members<CaseStats>(caseStatsMembers);

/** Milliseconds; percentiles are accurate to 1 %. */
export interface Times extends MembersOf<typeof timesMembers> {}
const timesMembers = { p50: number, p95: number, p99: number, sum: number };
const times = members<Times>(timesMembers);

/** The usage of a run's answers, whether made by the subject or recorded with these figures. */
export interface Totals extends MembersOf<typeof totalsMembers> {}
const totalsMembers = {
  /** One per run of a case. */
  answers: number,
  /** Answers from the cache, with the tokens and cost of the original call. */
  cached: number,
  /** Answers missing because of a fault. */
  failed: number,
  /** Null if no answer reports it, as for the two below. */
  input_tokens: nullOr(number),
  output_tokens: nullOr(number),
  /** US dollars. */
  cost_usd: nullOr(number),
  /** The number of answers that do not report the value. The sums are then lower bounds. */
  unknown: members({ tokens: number, cost_usd: number }),
  /** Durations of answers from the subject, without queues. */
  answer_ms: nullOr(times),
  /** Time that these answers waited for slots; null if unknown. */
  queue_ms: nullOr(times),
};
export const totals = members<Totals>(totalsMembers);

export interface ScoreDifference extends MembersOf<typeof scoreDifferenceMembers> {}
const scoreDifferenceMembers = {
  pairs: number,
  /** Pairs with equal scores. */
  ties: number,
  mean_a: number,
  mean_b: number,
  /** Mean of B − A over the pairs. */
  difference: number,
  /** Null for a single pair, as is the interval. */
  stderr: nullOr(number),
  ci95: nullOr(interval),
  /** The probability of such a difference if the sides were swapped at random in every pair; null for a single pair. */
  p_value: nullOr(number),
  test: oneOf('sign_flip', 'paired_t'),
};
const scoreDifference = members<ScoreDifference>(scoreDifferenceMembers);

export interface PairedDifference extends MembersOf<typeof pairedDifferenceMembers> {}
const pairedDifferenceMembers = {
  pairs: number,
  only_in_a: number,
  only_in_b: number,
  table: members({
    both_passed: number,
    only_a_passed: number,
    only_b_passed: number,
    neither_passed: number,
  }),
  /** A passed, B did not, and neither is flaky. */
  regressions: number,
  /** B passed, A did not, and neither is flaky. */
  improvements: number,
  /** Pairs with passed and failed epochs on either side. */
  flaky: number,
  pass_rate: members({ a: nullOr(number), b: nullOr(number) }),
  /** The probability of such different verdicts if nothing had changed (exact McNemar test); null without pairs. */
  p_value: nullOr(number),
  unscored: members({ only_in_a: number, only_in_b: number, both: number }),
  /** Over pairs with two scores; null if there are none. */
  score: nullOr(scoreDifference),
};
const pairedDifference = members<PairedDifference>(pairedDifferenceMembers);

export interface VariantHeader extends MembersOf<typeof variantMembers> {}
const variantMembers = {
  /** Unique in the suite. */
  name: text,
  /** The provider of a chat; absent for other variants. */
  provider: optional(text),
  /** The prompt name, if the suite has several. */
  prompt: optional(text),
};
export const variantHeader = members<VariantHeader>(variantMembers);

export interface VariantReport extends MembersOf<typeof variantReportMembers> {}
const variantReportMembers = {
  ...variantMembers,
  status: oneOf('passed', 'failed', 'error'),
  cases: number,
  /** Rows that this variant could not use. */
  problem_count: number,
  overall: caseStats,
  evals: recordOf(evalStats),
  /** Absent if no answers were made. */
  totals: optional(totals),
};
export const variantReport = members<VariantReport>(variantReportMembers);

/** Two variants compared case by case; differences are B − A. */
export interface VariantComparison extends MembersOf<typeof variantComparisonMembers> {}
const variantComparisonMembers = {
  a: text,
  b: text,
  cases: pairedDifference,
  evals: recordOf(pairedDifference),
};
export const variantComparison = members<VariantComparison>(variantComparisonMembers);
