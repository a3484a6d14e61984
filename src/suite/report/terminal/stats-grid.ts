import { escapeShownLine as oneLine } from '../../../text/escape-commands.ts';
import { cut } from '../../../text/width.ts';
import type { Classification, EvalStats, Latency, RunSummary, Stats } from '../../run/record.ts';
import { formatDuration, formatInterval, formatMean, formatPercent } from '../numbers.ts';
import { type Column, type GridRow, type GridView, renderGrid } from './grid.ts';

/** The statistics of each eval, with its tags below it, and of all cases. */
export function renderStats({ evals, overall, epochs }: RunSummary, view: GridView): string[] {
  const rows = Object.entries(evals).flatMap(([id, stats]): GridRow[] => [
    { style: 'bold', cells: [nameOf(id), ...statsCells(stats, epochs), ...evalCells(stats)] },
    ...Object.entries(stats.tags).map(([tag, part]) => ({
      cells: [`  ${nameOf(tag)}`, ...statsCells(part, epochs)],
    })),
  ]);
  const all: GridRow = { style: 'bold', cells: ['all cases', ...statsCells(overall, epochs)] };
  // With metrics alone no case can fail, and none has a score.
  const isJudged = overall.scored > 0 || overall.passed < overall.count;
  return renderGrid(statsColumns, isJudged ? [...rows, all] : rows, view);
}

function nameOf(id: string): string {
  return cut(oneLine(id), 40);
}

const statsColumns: readonly Column[] = [
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

function evalCells({ latency_ms: latency, queue_ms: queue, histogram }: EvalStats): string[] {
  return [...latencyCells(latency), queueCell(queue), drawHistogram(histogram)];
}

/** The median time in the queue; empty where there was practically none. */
function queueCell(queue: EvalStats['queue_ms']): string {
  return queue === undefined || queue === null || queue.p99 < 0.5 ? '' : formatDuration(queue.p50);
}

function latencyCells(latency: Latency | null): string[] {
  return latency === null ? ['', ''] : [formatDuration(latency.p50), formatDuration(latency.p99)];
}

/** One bar for each count, the highest full; only 0 has the lowest one. */
export function drawHistogram(counts: readonly number[]): string {
  const most = Math.max(...counts);
  if (most === 0) return '';
  return counts.map((count) => bars[count === 0 ? 0 : Math.max(1, Math.round((count / most) * 7))]).join('');
}

const bars = '▁▂▃▄▅▆▇█';

/** The classification measures of each guardrail; no lines where no event is labelled. */
export function renderGuards({ evals }: RunSummary, view: GridView): string[] {
  const guards = Object.entries(evals).flatMap(([id, { classification, tags }]) => [
    { id: nameOf(id), classification },
    ...Object.entries(tags).map(([tag, part]) => ({
      id: `  ${nameOf(tag)}`,
      classification: part.classification,
    })),
  ]);
  const rows = guards.flatMap(({ id, classification }) =>
    isLabelled(classification) ? [{ cells: [id, ...classificationCells(classification)] }] : [],
  );
  return rows.length === 0 ? [] : renderGrid(guardColumns, rows, view);
}

/** Whether at least one event of the guard has a label. */
export function isLabelled(guard: Classification | undefined): guard is Classification {
  if (guard === undefined) return false;
  const { true_positives: tp, false_positives: fp, true_negatives: tn, false_negatives: fn } = guard;
  return tp + fp + tn + fn > 0;
}

const guardColumns: readonly Column[] = [
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

function classificationCells(guard: Classification): string[] {
  const shares = [guard.precision, guard.recall, guard.f1, guard.f2].map(formatMean);
  const auc = guard.auc === null ? '' : formatMean(guard.auc);
  const counts = [guard.true_positives, guard.false_negatives, guard.false_positives].map(String);
  return [...shares, auc, ...counts];
}

/** How long each hook of the judged guardrails took. */
export function renderHooks({ evals }: RunSummary, view: GridView): string[] {
  const rows = Object.entries(evals).flatMap(([id, { classification }]) =>
    Object.entries(classification?.latency_ms ?? {}).map(([hook, latency]) => ({
      cells: [nameOf(hook), nameOf(id), ...latencyCells(latency)],
    })),
  );
  const columns = ['hook', 'guard', 'p50', 'p99'].map((title, priority) => ({ title, priority }));
  return rows.length === 0 ? [] : renderGrid(columns, rows, view);
}

/** The chances that of k epochs one passes (`pass@k`), and that all do (`pass^k`); nothing of a single epoch. */
export function renderEpochs({ evals, epochs }: RunSummary, view: GridView): string[] {
  const ks = [...new Set([1, 2, epochs])].filter((k) => k <= epochs);
  const rows = Object.entries(evals).flatMap(([id, { pass_at: at, pass_hat: hat }]) =>
    at === undefined || hat === undefined
      ? []
      : [
          {
            cells: [
              nameOf(id),
              ...ks.map((k) => formatMean(at[k] ?? null)),
              ...ks.map((k) => formatMean(hat[k] ?? null)),
            ],
          },
        ],
  );
  const columns = [
    { title: 'eval', priority: 0 },
    ...ks.map((k) => ({ title: `pass@${k}`, priority: k })),
    ...ks.map((k) => ({ title: `pass^${k}`, priority: -k })),
  ];
  return rows.length === 0 ? [] : renderGrid(columns, rows, view);
}
