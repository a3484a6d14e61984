import type {
  CaseRecord,
  Classification,
  EpochRecord,
  EvalHeader,
  EvalResult,
  EvalStats,
  RunHeader,
  Stats,
  SuiteReport,
} from '../../../../src/suites/record.ts';

/** A run as a reporter is told of it. */
export interface Run {
  readonly header: RunHeader;
  readonly cases: readonly CaseRecord[];
  readonly report: SuiteReport;
}

export const exact: EvalHeader = {
  id: 'exact',
  type: 'final_number',
  role: 'assertion',
  weight: 1,
  reducer: 'mean',
};

export function headerOf(members: Partial<RunHeader> = {}): RunHeader {
  return {
    run_id: '3f1c2a60-52a4-4f6e-9a7e-1f2f9f0c8d11',
    suite: 'gsm8k',
    file: 'suites/gsm8k.suite.yaml',
    started_at: '2026-03-02T09:14:07.000Z',
    epochs: 1,
    evals: [exact],
    total: null,
    ...members,
  };
}

export function resultOf(members: Partial<EvalResult> = {}): EvalResult {
  return {
    eval: 'exact',
    score: 1,
    passed: true,
    detail: '',
    threshold: { min_score: 1 },
    duration_ms: 2,
    attempts: 1,
    ...members,
  };
}

export function epochOf(members: Partial<EpochRecord> = {}): EpochRecord {
  const results = members.results ?? [resultOf()];
  return {
    epoch: 1,
    content: 'The answer is 18.',
    messages: [],
    tool_calls: [],
    metadata: {},
    ...members,
    results,
  };
}

/** A case over its epochs; what it came to follows from them, unless it is given. */
export function caseOf(
  number: number,
  epochs: readonly EpochRecord[],
  members: Partial<CaseRecord> = {},
): CaseRecord {
  const results = (epochs[0]?.results ?? []).map((first) => {
    const all = epochs.flatMap((epoch) => epoch.results.filter((result) => result.eval === first.eval));
    const scores = all.map(({ score }) => score).filter((score) => score !== null);
    const passedEpochs = all.filter(({ passed }) => passed).length;
    return {
      eval: first.eval,
      score: scores.length < all.length ? null : meanOf(scores),
      passed: passedEpochs * 2 > all.length,
      detail: first.detail,
      passed_epochs: passedEpochs,
    };
  });
  const scores = results.map(({ score }) => score);
  return {
    number,
    file: 'data/solutions.jsonl',
    line: number,
    id: `case-${number}`,
    tags: [],
    epochs,
    results,
    score: scores.includes(null) ? null : meanOf(scores.map((score) => score ?? 0)),
    passed: results.every(({ passed }) => passed),
    ...members,
  };
}

/** The report that fits the cases, with other members as given. */
export function reportOf(
  header: RunHeader,
  cases: readonly CaseRecord[],
  members: Partial<SuiteReport> = {},
): SuiteReport {
  return {
    run_id: header.run_id,
    suite: header.suite,
    status: 'passed',
    cases: cases.length,
    epochs: header.epochs,
    bailed: false,
    overall: { ...statsOf(cases.map(({ score, passed }) => ({ score, passed }))), tags: {} },
    evals: Object.fromEntries(header.evals.map(({ id }) => [id, evalStatsOf(id, cases)])),
    gates: [],
    duration_ms: 84_210,
    problems: [],
    problem_count: 0,
    failures: [],
    failure_count: 0,
    ...members,
  };
}

type Outcome = Pick<CaseRecord, 'score' | 'passed'>;

function evalStatsOf(id: string, cases: readonly CaseRecord[]): EvalStats {
  const outcomesOf = (some: readonly CaseRecord[]): Outcome[] =>
    some.flatMap(({ results }) => results.filter((result) => result.eval === id));
  const outcomes = outcomesOf(cases);
  const histogram = Array.from({ length: 10 }, () => 0);
  for (const { score } of outcomes) {
    const place = Math.min(9, Math.floor((score ?? 0) * 10));
    if (score !== null) histogram[place] = (histogram[place] ?? 0) + 1;
  }
  const tags = [...new Set(cases.flatMap((record) => record.tags))].toSorted();
  return {
    ...statsOf(outcomes),
    histogram,
    latency_ms: outcomes.length === 0 ? null : { p50: 12.4, p99: 81 },
    tags: Object.fromEntries(
      tags.map((tag) => [tag, statsOf(outcomesOf(cases.filter((record) => record.tags.includes(tag))))]),
    ),
  };
}

function statsOf(outcomes: readonly Outcome[]): Stats {
  const scores = outcomes.flatMap(({ score }) => (score === null ? [] : [score])).toSorted((a, b) => a - b);
  const [count, passed] = [outcomes.length, outcomes.filter((outcome) => outcome.passed).length];
  const mean = scores.length === 0 ? null : meanOf(scores);
  const rate = count === 0 ? null : passed / count;
  const stderr = mean === null || count < 2 ? null : Math.sqrt(Math.max(0, mean * (1 - mean)) / (count - 1));
  const spread = 1.96 * (stderr ?? 0);
  return {
    count,
    scored: scores.length,
    unscored: count - scores.length,
    unscored_share: count === 0 ? null : (count - scores.length) / count,
    passed,
    pass_rate: rate,
    pass_rate_ci95: rate === null ? null : [Math.max(0, rate - spread), Math.min(1, rate + spread)],
    mean,
    stderr,
    ci95: mean === null ? null : [Math.max(0, mean - spread), Math.min(1, mean + spread)],
    median: scores[Math.floor(scores.length / 2)] ?? null,
    p10: scores[Math.floor(scores.length / 10)] ?? null,
    flaky: 0,
  };
}

function meanOf(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

export const classification: Classification = {
  true_positives: 46,
  false_positives: 3,
  true_negatives: 65,
  false_negatives: 6,
  precision: 46 / 49,
  recall: 46 / 52,
  f1: 0.911,
  f2: 0.895,
  accuracy: 0.925,
  auc: 0.957,
  roc: [
    { threshold: 1, tpr: 0, fpr: 0 },
    { threshold: 0.95, tpr: 0.52, fpr: 0 },
    { threshold: 0.9, tpr: 0.71, fpr: 0.015 },
    { threshold: 0.7, tpr: 0.88, fpr: 0.044 },
    { threshold: 0.5, tpr: 0.94, fpr: 0.19 },
    { threshold: 0.2, tpr: 1, fpr: 0.55 },
    { threshold: 0, tpr: 1, fpr: 1 },
  ],
  latency_ms: { 'pii-filter': { p50: 3.1, p99: 11.8 }, 'topic-guard': { p50: 41, p99: 120 } },
};
