import { formatCount, formatUsd } from '../../base/text/phrases.ts';
import type { GateResult, RowProblem, RunSummary, SuiteReport } from '../record.ts';
import type {
  Classification,
  EvalStats,
  Latency,
  PairedDifference,
  Stats,
  Totals,
  VariantReport,
} from '../run/stats-record.ts';
import {
  describeP,
  formatDifference,
  formatDuration,
  formatInterval,
  formatListed,
  formatMean,
  formatPercent,
} from './numbers.ts';
import { type SeveralReport, type SuiteName, statusOf } from './reporter.ts';
import {
  countProblems,
  countUnscored,
  describeAgreement,
  describeRun,
  explainGate,
  nameGate,
} from './wording.ts';

export interface ReportDocument {
  /** For example `95.00% of 40 cases in 2.0 s passed`, `3 failures`, `1 fault`, `2 invalid rows`. */
  readonly counts: readonly string[];
  readonly gates: readonly { readonly gate: GateResult; readonly name: string; readonly words: string }[];
  readonly agreements: readonly { readonly eval: string; readonly words: string }[];
  /** `3 failures`, or `70 failures, the first 20`; empty if there are none. */
  readonly failureTitle: string;
  readonly voids: readonly RowProblem[];
  readonly badRows: { readonly title: string; readonly problems: readonly RowProblem[] };
  readonly statistics: ReportTable;
  readonly guards: ReportTable;
}

export interface ReportTable {
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
}

export interface ReportColumn {
  readonly title: string;
  /** If the terminal is too narrow, the column with the lowest number is dropped first. */
  readonly priority: number;
}

export interface ReportRow {
  readonly kind: 'eval' | 'tag' | 'all';
  readonly name: string;
  readonly cells: readonly string[];
}

export function documentOf(report: RunSummary): ReportDocument {
  const { overall, evals, epochs, gates, failures, failure_count, problems, problem_count } = report;
  const voids = problems.filter(({ scope }) => scope === 'run');
  const badRows = problems.filter(({ scope }) => scope !== 'run');
  const badCount = problem_count - voids.length;
  return {
    counts: [
      `${formatPercent(overall.pass_rate)} of ${describeRun(report)} passed`,
      ...(failure_count === 0 ? [] : [formatCount(failure_count, 'failure')]),
      ...countUnscored(report),
      ...countProblems(report),
    ],
    gates: gates.map((gate) => ({ gate, name: nameGate(gate), words: explainGate(gate) })),
    agreements: Object.entries(evals).flatMap(([id, { agreement }]) =>
      agreement === undefined ? [] : [{ eval: id, words: describeAgreement(agreement) }],
    ),
    failureTitle: failure_count === 0 ? '' : formatListed(failure_count, 'failure', failures.length),
    voids,
    badRows: {
      title: badCount === 0 ? '' : formatListed(badCount, 'invalid row', badRows.length),
      problems: badRows,
    },
    statistics: {
      columns: statsColumns,
      rows: [
        ...Object.entries(evals).flatMap(([id, stats]): ReportRow[] => [
          { kind: 'eval', name: id, cells: [...statsCells(stats, epochs), ...timeCells(stats)] },
          ...Object.entries(stats.tags).map(([tag, part]) => ({
            ...{ kind: 'tag' as const, name: tag, cells: statsCells(part, epochs) },
          })),
        ]),
        { kind: 'all', name: 'all cases', cells: statsCells(overall, epochs) },
      ],
    },
    guards: {
      columns: guardColumns,
      rows: Object.entries(evals).flatMap(([id, { classification, tags }]) => [
        ...guardRow('eval', id, classification),
        ...Object.entries(tags).flatMap(([tag, part]) => guardRow('tag', tag, part.classification)),
      ]),
    },
  };
}

export function isJudged({ overall }: Pick<RunSummary, 'overall'>): boolean {
  return overall.scored > 0 || overall.passed < overall.count;
}

const statsColumns: readonly ReportColumn[] = [
  { title: 'eval', priority: 0 },
  { title: 'count', priority: 7 },
  { title: 'passed', priority: 10 },
  { title: 'pass rate', priority: 12 },
  { title: 'mean', priority: 11 },
  { title: 'stderr', priority: 6 },
  { title: '95 %', priority: 5 },
  { title: 'median', priority: 3 },
  { title: 'p10', priority: 2 },
  { title: 'unscored', priority: 9 },
  { title: 'flaky', priority: 8 },
  { title: 'p50', priority: 1 },
  { title: 'p99', priority: 0 },
  { title: 'queue', priority: 0 },
  { title: 'spread', priority: 4 },
];

function statsCells(stats: Stats, epochs: number): string[] {
  return [
    ...[String(stats.count), String(stats.passed), formatPercent(stats.pass_rate), formatMean(stats.mean)],
    stats.stderr === null ? '–' : `±${formatMean(stats.stderr)}`,
    ...[formatInterval(stats.ci95), formatMean(stats.median), formatMean(stats.p10), String(stats.unscored)],
    epochs === 1 ? '' : String(stats.flaky),
  ];
}

function timeCells({ latency_ms: latency, queue_ms: queue, histogram }: EvalStats): string[] {
  const median = queue === undefined || queue === null || queue.p99 < 0.5 ? '' : formatDuration(queue.p50);
  return [...latencyCells(latency), median, drawHistogram(histogram)];
}

export function latencyCells(latency: Latency | null): string[] {
  return latency === null ? ['', ''] : [formatDuration(latency.p50), formatDuration(latency.p99)];
}

/** One bar per count, the highest at full height; only 0 gets the lowest bar. */
export function drawHistogram(counts: readonly number[]): string {
  const most = Math.max(...counts);
  if (most === 0) return '';
  const heights = counts.map((count) => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * 7))));
  return heights.map((height) => '▁▂▃▄▅▆▇█'[height]).join('');
}

const guardColumns: readonly ReportColumn[] = [
  { title: 'guard', priority: 0 },
  { title: 'precision', priority: 7 },
  { title: 'recall', priority: 8 },
  { title: 'F1', priority: 5 },
  { title: 'F2', priority: 6 },
  { title: 'AUC', priority: 4 },
  { title: 'caught', priority: 3 },
  { title: 'missed', priority: 3 },
  { title: 'false alarms', priority: 3 },
];

/** Empty if no event of the guard has a label. */
function guardRow(kind: 'eval' | 'tag', name: string, guard: Classification | undefined): ReportRow[] {
  if (guard === undefined) return [];
  const { true_positives: tp, false_positives: fp, true_negatives: tn, false_negatives: fn } = guard;
  if (tp + fp + tn + fn === 0) return [];
  const shares = [guard.precision, guard.recall, guard.f1, guard.f2].map(formatMean);
  return [{ kind, name, cells: [...shares, known(guard.auc, formatMean), ...[tp, fn, fp].map(String)] }];
}

export const outcomeColumns: readonly ReportColumn[] = [
  { title: 'suite', priority: 9 },
  { title: 'status', priority: 8 },
  { title: 'cases', priority: 6 },
  { title: 'passed', priority: 5 },
  { title: 'pass rate', priority: 7 },
  { title: 'gates', priority: 4 },
  { title: 'time', priority: 3 },
];

interface OutcomeRow extends SuiteName {
  readonly status: SuiteReport['status'];
  readonly cells: readonly string[];
  /** `[CODE] message` for a suite without a report. */
  readonly fault?: string;
  readonly hint?: string;
}

export function outcomeRows({ outcomes }: SeveralReport): OutcomeRow[] {
  return outcomes.map((outcome) => {
    const { suite, file } = outcome;
    const status = statusOf(outcome);
    if ('error' in outcome) {
      const { code, message, hint } = outcome.error;
      return {
        suite,
        file,
        status,
        cells: [status, '', '', '', '', ''],
        fault: `[${code}] ${message}`,
        hint,
      };
    }
    const { cases, overall, gates, duration_ms: ms } = outcome.report;
    const passed = gates.filter((gate) => gate.passed).length;
    const cells = [
      ...[status, String(cases), String(overall.passed), formatPercent(overall.pass_rate)],
      ...[gates.length === 0 ? '' : `${passed}/${gates.length}`, formatDuration(ms)],
    ];
    return { suite, file, status, cells };
  });
}

export interface MatrixRow {
  readonly name: string;
  readonly measure: string;
  readonly cells: readonly string[];
}

type MatrixSummary = Pick<RunSummary, 'variants' | 'comparisons' | 'epochs' | 'overall'>;
type Cell = (variant: VariantReport) => string;

/** The results of each variant and the usage of its answers. */
export function matrixRows({ variants = [], comparisons = [], epochs, overall }: MatrixSummary): MatrixRow[] {
  const [first] = variants;
  if (first === undefined) return [];
  const against = ({ name }: VariantReport) => comparisons.find(({ a, b }) => a === first.name && b === name);
  const block = (name: string, measures: Readonly<Record<string, Cell>>): MatrixRow[] =>
    Object.entries(measures)
      .map(([measure, cell]) => ({ measure, cells: variants.map(cell) }))
      .filter(({ cells }) => cells.some((cell) => cell !== ''))
      .map((row, index) => ({ name: index === 0 ? name : '', ...row }));
  const statistics = (
    name: string,
    statsOf: (variant: VariantReport) => Stats | undefined,
    differenceOf: (variant: VariantReport) => PairedDifference | undefined,
  ): MatrixRow[] => {
    const of = (say: (stats: Stats) => string) => (variant: VariantReport) => known(statsOf(variant), say);
    return block(name, {
      'pass rate': of((stats) => formatPercent(stats.pass_rate)),
      mean: of(
        ({ mean, stderr }) => `${formatMean(mean)}${known(stderr, (error) => ` ±${formatMean(error)}`)}`,
      ),
      unscored: of(({ unscored }) => (unscored === 0 ? '' : String(unscored))),
      flaky: of(({ flaky }) => (epochs === 1 || flaky === 0 ? '' : String(flaky))),
      'Δ mean': (variant) =>
        known(differenceOf(variant)?.score, ({ difference, ci95 }) => formatDifference(difference, ci95)),
      'p, verdicts': (variant) => known(differenceOf(variant)?.p_value, describeP),
      'p, scores': (variant) => known(differenceOf(variant)?.score?.p_value, describeP),
    });
  };
  const answers = (say: (totals: Totals) => string) => (variant: VariantReport) => known(variant.totals, say);
  const atLeast = (text: string, unknown: number) => `${text}${unknown === 0 ? '' : ' or more'}`;
  return [
    ...Object.keys(first.evals).flatMap((id) =>
      statistics(
        id,
        ({ evals }) => evals[id],
        (variant) => against(variant)?.evals[id],
      ),
    ),
    ...(isJudged({ overall })
      ? statistics(
          'all cases',
          (variant) => variant.overall,
          (variant) => against(variant)?.cases,
        )
      : []),
    ...block('answers', {
      failed: answers(({ failed }) => (failed === 0 ? '' : String(failed))),
      cached: answers(({ cached }) => (cached === 0 ? '' : String(cached))),
      p50: answers(({ answer_ms: times }) => known(times?.p50, formatDuration)),
      p99: answers(({ answer_ms: times }) => known(times?.p99, formatDuration)),
      'tokens in': answers(({ input_tokens, unknown }) =>
        known(input_tokens, (tokens) => atLeast(String(tokens), unknown.tokens)),
      ),
      'tokens out': answers(({ output_tokens, unknown }) =>
        known(output_tokens, (tokens) => atLeast(String(tokens), unknown.tokens)),
      ),
      cost: answers(({ cost_usd, unknown }) =>
        known(cost_usd, (cost) => atLeast(formatUsd(cost), unknown.cost_usd)),
      ),
    }),
  ];
}

function known<Value>(value: Value | null | undefined, say: (value: Value) => string): string {
  return value === null || value === undefined ? '' : say(value);
}
