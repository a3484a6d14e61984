import type { Gate } from '../file/model.ts';
import type { CaseStats, Classification, EvalStats, GateResult, Stats } from './record.ts';

/** Compares each gate's metric with its inclusive bounds, exactly; a metric of nothing fails. */
export function judgeGates(
  gates: readonly Gate[],
  overall: CaseStats,
  stats: Readonly<Record<string, EvalStats>>,
): GateResult[] {
  return gates.map((gate) => {
    const { eval: id, metric, tag, min, max } = gate;
    const judged = id === undefined ? overall : member(stats, id);
    const group = tag === undefined ? judged : member(judged?.tags, tag);
    const value = group === undefined ? null : readMetric(metric, group);
    return {
      ...(id === undefined ? {} : { eval: id }),
      metric,
      ...(tag === undefined ? {} : { tag }),
      value,
      min: min ?? null,
      max: max ?? null,
      passed: value !== null && (min === undefined || value >= min) && (max === undefined || value <= max),
    };
  });
}

/** What a gate may be over. */
export interface MetricInfo {
  /** A share or a score lies in 0..1, as do its bounds; milliseconds have no upper limit. */
  readonly unit: 'share' | 'ms';
  /** Evals alone have it, or guards alone among them; otherwise the cases as wholes, too. */
  readonly of: 'cases' | 'evals' | 'guards';
  /** Whether it is known of the cases of one tag. */
  readonly hasTags: boolean;
  /** Epochs that it needs at least. */
  readonly epochs: number;
}

/** Undefined of a text that names no metric. */
export function findGateMetric(text: string): MetricInfo | undefined {
  const drawn = readDrawn(text);
  if (drawn !== undefined) return { unit: 'share', of: 'cases', hasTags: true, epochs: Math.max(2, drawn.k) };
  if (Object.hasOwn(ofAll, text)) return { unit: 'share', of: 'cases', hasTags: true, epochs: 1 };
  if (Object.hasOwn(ofGuards, text)) return { unit: 'share', of: 'guards', hasTags: true, epochs: 1 };
  if (Object.hasOwn(ofEvals, text)) return { unit: 'ms', of: 'evals', hasTags: false, epochs: 1 };
  return undefined;
}

export function isGateMetric(text: string): boolean {
  return findGateMetric(text) !== undefined;
}

/** Whether the cases as wholes have it. */
export function isOverallMetric(text: string): boolean {
  return findGateMetric(text)?.of === 'cases';
}

type Group = Stats & {
  readonly classification?: Classification;
  readonly latency_ms?: EvalStats['latency_ms'];
  readonly queue_ms?: EvalStats['queue_ms'];
};
type Read = (group: Group) => number | null | undefined;

const ofAll: Readonly<Record<string, Read>> = {
  mean: ({ mean }) => mean,
  median: ({ median }) => median,
  pass_rate: ({ pass_rate }) => pass_rate,
  p10: ({ p10 }) => p10,
  stderr: ({ stderr }) => stderr,
  unscored: ({ unscored_share }) => unscored_share,
  flaky: ({ flaky, count }) => (count === 0 ? null : flaky / count),
};

const ofGuards: Readonly<Record<string, Read>> = {
  precision: ({ classification }) => classification?.precision,
  recall: ({ classification }) => classification?.recall,
  f1: ({ classification }) => classification?.f1,
  f2: ({ classification }) => classification?.f2,
  accuracy: ({ classification }) => classification?.accuracy,
  auc: ({ classification }) => classification?.auc,
};

const ofEvals: Readonly<Record<string, Read>> = {
  p50_ms: ({ latency_ms }) => latency_ms?.p50,
  p99_ms: ({ latency_ms }) => latency_ms?.p99,
  queue_p50_ms: ({ queue_ms }) => queue_ms?.p50,
  queue_p99_ms: ({ queue_ms }) => queue_ms?.p99,
};

/** As documentation and hints list them; K stands for a number from 1. */
export const gateMetricNames: readonly string[] = [
  ...Object.keys(ofAll),
  'pass@K',
  'pass^K',
  ...Object.keys(ofGuards),
  ...Object.keys(ofEvals),
];

function readMetric(metric: string, group: Group): number | null {
  const drawn = readDrawn(metric);
  if (drawn !== undefined) return member(group[drawn.chances], String(drawn.k)) ?? null;
  const read = member(ofAll, metric) ?? member(ofGuards, metric) ?? member(ofEvals, metric);
  return read?.(group) ?? null;
}

function readDrawn(
  metric: string,
): { readonly chances: 'pass_at' | 'pass_hat'; readonly k: number } | undefined {
  const [, sign, k] = /^pass([@^])([1-9]\d{0,3})$/.exec(metric) ?? [];
  return sign === undefined ? undefined : { chances: sign === '@' ? 'pass_at' : 'pass_hat', k: Number(k) };
}

/** A member of its own: a tag may be called `constructor`. */
function member<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
