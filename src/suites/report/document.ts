import { formatCount } from '../../base/text/format-count.ts';
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
  formatUsd,
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

/** A report as texts, which each format arranges and escapes. */
export interface ReportDocument {
  /** What it came to: `95.00% of 40 cases in 2.0 s passed`, `3 failures`, `1 fault`, `2 unusable rows`. */
  readonly counts: readonly string[];
  readonly gates: readonly { readonly gate: GateResult; readonly name: string; readonly words: string }[];
  /** How far evals agree with people, of each that has labels. */
  readonly agreements: readonly { readonly eval: string; readonly words: string }[];
  /** `3 failures`, `70 failures, the first 20`; empty where there are none. */
  readonly failureTitle: string;
  /** What makes the run void. */
  readonly voids: readonly RowProblem[];
  /** Rows that could not be used. */
  readonly badRows: { readonly title: string; readonly problems: readonly RowProblem[] };
  /** The statistics of each eval, with its tags below it, and of all cases. */
  readonly statistics: ReportTable;
  /** The classification measures of each guardrail that has a label. */
  readonly guards: ReportTable;
}

export interface ReportTable {
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
}

export interface ReportColumn {
  readonly title: string;
  /** On a terminal that is too narrow, the column of the lowest number goes first. */
  readonly priority: number;
}

export interface ReportRow {
  readonly kind: 'eval' | 'tag' | 'all';
  readonly name: string;
  /** One for each column behind the name. */
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
      title: badCount === 0 ? '' : formatListed(badCount, 'unusable row', badRows.length),
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

/** Whether cases can pass or fail: with metrics alone none does, and none has a score. */
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
    String(stats.count),
    String(stats.passed),
    formatPercent(stats.pass_rate),
    formatMean(stats.mean),
    stats.stderr === null ? '–' : `±${formatMean(stats.stderr)}`,
    formatInterval(stats.ci95),
    formatMean(stats.median),
    formatMean(stats.p10),
    String(stats.unscored),
    epochs === 1 ? '' : String(stats.flaky),
  ];
}

function timeCells({ latency_ms: latency, queue_ms: queue, histogram }: EvalStats): string[] {
  // Empty where there was practically no time in the queue.
  const median = queue === undefined || queue === null || queue.p99 < 0.5 ? '' : formatDuration(queue.p50);
  return [...latencyCells(latency), median, drawHistogram(histogram)];
}

export function latencyCells(latency: Latency | null): string[] {
  return latency === null ? ['', ''] : [formatDuration(latency.p50), formatDuration(latency.p99)];
}

/** One bar for each count, the highest full; only 0 has the lowest one. */
export function drawHistogram(counts: readonly number[]): string {
  const most = Math.max(...counts);
  if (most === 0) return '';
  return counts.map((count) => bars[count === 0 ? 0 : Math.max(1, Math.round((count / most) * 7))]).join('');
}

const bars = '▁▂▃▄▅▆▇█';

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

/** None where no event of the guard has a label. */
function guardRow(kind: 'eval' | 'tag', name: string, guard: Classification | undefined): ReportRow[] {
  if (guard === undefined) return [];
  const { true_positives: tp, false_positives: fp, true_negatives: tn, false_negatives: fn } = guard;
  if (tp + fp + tn + fn === 0) return [];
  const shares = [guard.precision, guard.recall, guard.f1, guard.f2].map(formatMean);
  const auc = guard.auc === null ? '' : formatMean(guard.auc);
  return [{ kind, name, cells: [...shares, auc, ...[tp, fn, fp].map(String)] }];
}

/** The columns of the table of several suites. */
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
  /** One for each column behind the name. */
  readonly cells: readonly string[];
  /** `[CODE] message` of a suite that has no report. */
  readonly fault?: string;
  readonly hint?: string;
}

/** What each suite came to. */
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

/** A row of the table of a matrix, with a cell for each variant. */
export interface MatrixRow {
  /** Of an eval, or of what the answers took; empty for a further row of the one before. */
  readonly name: string;
  readonly measure: string;
  /** One for each variant, in their order. */
  readonly cells: readonly string[];
}

/** The variants of a matrix side by side: what their cases came to, and what their answers took. */
export function matrixRows({ variants = [], comparisons = [], epochs, overall }: MatrixSummary): MatrixRow[] {
  const [first] = variants;
  if (first === undefined) return [];
  const against = (name: string) => comparisons.find(({ a, b }) => a === first.name && b === name);
  const blocks = Object.keys(first.evals).map(
    (id): Block => ({
      name: id,
      stats: (variant) => variant.evals[id],
      difference: (variant) => against(variant.name)?.evals[id],
    }),
  );
  const all: Block = {
    name: 'all cases',
    stats: (variant) => variant.overall,
    difference: (variant) => against(variant.name)?.cases,
  };
  return [
    ...[...blocks, ...(isJudged({ overall }) ? [all] : [])].flatMap((block) =>
      blockRows(block, variants, epochs),
    ),
    ...answerRows(variants),
  ];
}

type MatrixSummary = Pick<RunSummary, 'variants' | 'comparisons' | 'epochs' | 'overall'>;

interface Block {
  readonly name: string;
  readonly stats: (variant: VariantReport) => Stats | undefined;
  /** From the first variant. */
  readonly difference: (variant: VariantReport) => PairedDifference | undefined;
}

function blockRows(
  { name, stats, difference }: Block,
  variants: readonly VariantReport[],
  epochs: number,
): MatrixRow[] {
  const row = (measure: string, cell: (stats: Stats) => string) => {
    return toRow(measure, variants, (variant) => {
      const own = stats(variant);
      return own === undefined ? '' : cell(own);
    });
  };
  const rows = [
    row('pass rate', (own) => formatPercent(own.pass_rate)),
    row(
      'mean',
      (own) => `${formatMean(own.mean)}${own.stderr === null ? '' : ` ±${formatMean(own.stderr)}`}`,
    ),
    row('unscored', ({ unscored }) => (unscored === 0 ? '' : String(unscored))),
    row('flaky', ({ flaky }) => (epochs === 1 || flaky === 0 ? '' : String(flaky))),
    toRow('Δ mean', variants, (variant) => {
      const score = difference(variant)?.score ?? null;
      return score === null ? '' : formatDifference(score.difference, score.ci95);
    }),
    toRow('p, verdicts', variants, (variant) => pCell(difference(variant)?.p_value)),
    toRow('p, scores', variants, (variant) => pCell(difference(variant)?.score?.p_value)),
  ];
  return withName(name, rows);
}

/** A p-value; empty where nothing was compared. */
function pCell(p: number | null | undefined): string {
  return p === null || p === undefined ? '' : describeP(p);
}

function answerRows(variants: readonly VariantReport[]): MatrixRow[] {
  const row = (measure: string, cell: (totals: Totals) => string) =>
    toRow(measure, variants, ({ totals }) => (totals === undefined ? '' : cell(totals)));
  return withName('answers', [
    row('failed', ({ failed }) => (failed === 0 ? '' : String(failed))),
    row('cached', ({ cached }) => (cached === 0 ? '' : String(cached))),
    row('p50', ({ answer_ms: times }) => (times === null ? '' : formatDuration(times.p50))),
    row('p99', ({ answer_ms: times }) => (times === null ? '' : formatDuration(times.p99))),
    row('tokens in', ({ input_tokens: tokens, unknown }) => tokenCell(tokens, unknown.tokens)),
    row('tokens out', ({ output_tokens: tokens, unknown }) => tokenCell(tokens, unknown.tokens)),
    row('cost', ({ cost_usd: cost, unknown }) =>
      cost === null ? '' : formatUsd(cost) + more(unknown.cost_usd),
    ),
  ]);
}

/** What some answers do not tell is a sum of the others. */
function more(unknown: number): string {
  return unknown === 0 ? '' : ' or more';
}

function tokenCell(tokens: number | null, unknown: number): string {
  return tokens === null ? '' : `${tokens}${more(unknown)}`;
}

function toRow(
  measure: string,
  variants: readonly VariantReport[],
  cell: (variant: VariantReport) => string,
): MatrixRow {
  return { name: '', measure, cells: variants.map(cell) };
}

/** Those that say something, the first with the name of all. */
function withName(name: string, rows: readonly MatrixRow[]): MatrixRow[] {
  return rows
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map((row, index) => (index === 0 ? { ...row, name } : row));
}
