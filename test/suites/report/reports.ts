import type {
  CaseRecord,
  EpochRecord,
  EvalResult,
  EvalStats,
  RowProblem,
  RunHeader,
  Stats,
  SuiteReport,
} from '../../../src/suites/record.ts';
import {
  ofOne,
  type Reporter,
  type ReportPlace,
  type ReportWriter,
  type Sink,
} from '../../../src/suites/report/reporter.ts';

export const stats: Stats = {
  count: 4,
  scored: 3,
  unscored: 1,
  unscored_share: 0.25,
  passed: 2,
  pass_rate: 0.5,
  pass_rate_ci95: [0.15, 0.85],
  mean: 2 / 3,
  stderr: 0.25,
  ci95: [0.1, 1],
  median: 1,
  p10: 0,
  flaky: 0,
};

export const noStats: Stats = {
  count: 0,
  scored: 0,
  unscored: 0,
  unscored_share: null,
  passed: 0,
  pass_rate: null,
  pass_rate_ci95: null,
  mean: null,
  stderr: null,
  ci95: null,
  median: null,
  p10: null,
  flaky: 0,
};

export function evalStatsOf(members: Partial<EvalStats> = {}): EvalStats {
  return {
    ...stats,
    histogram: [1, 0, 0, 0, 0, 0, 0, 0, 0, 2],
    latency_ms: { p50: 12, p99: 1250 },
    tags: {},
    ...members,
  };
}

export function reportOf(members: Partial<SuiteReport>): SuiteReport {
  return {
    run_id: '00000000-0000-4000-8000-000000000000',
    suite: 'gsm8k',
    status: 'passed',
    cases: 4,
    epochs: 1,
    bailed: false,
    overall: { ...stats, tags: {} },
    evals: { exact: evalStatsOf() },
    gates: [],
    duration_ms: 2000,
    problems: [],
    problem_count: 0,
    failures: [],
    failure_count: 0,
    ...members,
  };
}

export function headerOf(members: Partial<RunHeader> = {}): RunHeader {
  return {
    run_id: '00000000-0000-4000-8000-000000000000',
    suite: 'gsm8k',
    file: 'gsm8k.suite.yaml',
    started_at: '2026-01-02T03:04:05.678Z',
    epochs: 1,
    evals: [{ id: 'exact', type: 'final_number', role: 'assertion', weight: 1, reducer: 'mean' }],
    total: null,
    ...members,
  };
}

export function evalResultOf(members: Partial<EvalResult> = {}): EvalResult {
  return {
    eval: 'exact',
    score: 1,
    passed: true,
    detail: '',
    threshold: {},
    duration_ms: 12,
    attempts: 1,
    ...members,
  };
}

export function epochOf(results: readonly EvalResult[], members: Partial<EpochRecord> = {}): EpochRecord {
  return {
    epoch: 1,
    content: 'The answer is 42.',
    messages: [],
    tool_calls: [],
    metadata: {},
    results,
    ...members,
  };
}

export function caseOf(results: readonly EvalResult[], members: Partial<CaseRecord> = {}): CaseRecord {
  const passed = results.every((result) => result.passed);
  return {
    number: 1,
    file: 'rows.jsonl',
    line: 1,
    id: 'r1',
    tags: [],
    epochs: [epochOf(results)],
    results: results.map(({ eval: id, score, passed: isGood, detail, error }) => ({
      eval: id,
      score,
      passed: isGood,
      detail,
      passed_epochs: isGood ? 1 : 0,
      ...(error !== undefined && { fault: true as const }),
    })),
    score: passed ? 1 : 0,
    passed,
    ...members,
  };
}

export function newTextSink(members: { hasColour?: boolean; columns?: number } = {}): {
  readonly hasColour: boolean;
  readonly columns: number | undefined;
  readonly parts: string[];
  text(): string;
  write(text: string): Promise<void>;
} {
  const parts: string[] = [];
  return {
    hasColour: members.hasColour ?? false,
    columns: members.columns,
    parts,
    text: () => parts.join(''),
    async write(text) {
      parts.push(text);
    },
  };
}

export async function written(
  open: Parameters<typeof reporterOf>[0],
  {
    header = headerOf(),
    records = [],
    problems = [],
    report = reportOf({}),
  }: {
    readonly header?: RunHeader;
    readonly records?: Iterable<CaseRecord>;
    readonly problems?: readonly RowProblem[];
    readonly report?: SuiteReport;
  } = {},
): Promise<string> {
  const sink = newTextSink();
  const reporter = await reporterOf(open)(sink);
  await reporter.begin(header);
  for (const record of records) await reporter.onCase(record);
  for (const problem of problems) await reporter.onProblem(problem);
  await reporter.end(report);
  return sink.text();
}

type Opened = ReportWriter | Promise<ReportWriter>;

/** Opens a format as the reporter of a single run. */
export function reporterOf(open: (sink: Sink, place: ReportPlace) => Opened) {
  return async (sink: Sink): Promise<Reporter> => {
    const writer = await open(sink, { isSeveral: false });
    const own = writer.next({ suite: '', file: '' });
    let file = '';
    return {
      ...own,
      async begin(header) {
        file = header.file;
        await own.begin(header);
      },
      async end(report) {
        await own.end(report);
        await writer.end(ofOne(report, file));
        writer.close?.();
      },
    };
  };
}
