import { isWithin } from '../../calls/capability/eval.ts';
import type { Gate } from '../file/model.ts';
import type { CaseStats, Classification, EvalStats, GateResult, Stats } from '../record.ts';
import type { ExactMetrics } from '../stats/tally.ts';
import type { Totals } from './stats-record.ts';

export interface Judged {
  readonly overall: CaseStats;
  readonly evals: Readonly<Record<string, EvalStats>>;
  readonly totals?: Totals | undefined;
  readonly exactly?: ((gate: Gate) => ExactMetrics | undefined) | undefined;
}

/** A gate whose metric has no value fails. */
export function judgeGates(gates: readonly Gate[], judged: Judged): GateResult[] {
  return gates.map((gate) => {
    const { eval: id, metric, tag, min, max } = gate;
    const whole = id === undefined ? judged.overall : ownMember(judged.evals, id);
    const group = tag === undefined ? whole : ownMember(whole?.tags, tag);
    const ofRun = ownMember(totalMetrics, metric);
    const value =
      ofRun === undefined ? (group === undefined ? null : readMetric(metric, group)) : ofRun(judged.totals);
    return {
      ...(id === undefined ? {} : { eval: id }),
      metric,
      ...(tag === undefined ? {} : { tag }),
      value,
      min: min ?? null,
      max: max ?? null,
      passed: value !== null && isWithin(ownMember(judged.exactly?.(gate), metric) ?? value, { min, max }),
    };
  });
}

/**
 * Whether faults left results unscored that no passed gate over `faults` or `unscored` tolerates. The run or variant
 * then has no valid verdict.
 */
export function hasUntoleratedFaults(
  evals: Readonly<Record<string, EvalStats>>,
  gates: readonly GateResult[],
): boolean {
  const tolerant = gates.filter(
    ({ metric, tag, better_than: other, passed }) =>
      passed && (metric === 'faults' || metric === 'unscored') && tag === undefined && other === undefined,
  );
  return Object.entries(evals).some(
    ([id, { faults = 0 }]) =>
      faults > 0 && !tolerant.some((gate) => gate.eval === undefined || gate.eval === id),
  );
}

export interface MetricInfo {
  /** A share or score and its bounds lie in 0..1; amounts such as milliseconds have no upper limit. */
  readonly unit: 'share' | 'amount';
  /**
   * What has the metric. `cases`: whole cases and evals; `evals`: only evals; `guards`: only guard evals; `run`: only
   * the run.
   */
  readonly scope: 'cases' | 'evals' | 'guards' | 'run';
  readonly hasTags: boolean;
  readonly epochs: number;
}

export function findGateMetric(text: string): MetricInfo | undefined {
  const passK = parsePassK(text);
  if (passK !== undefined)
    return { unit: 'share', scope: 'cases', hasTags: true, epochs: Math.max(2, passK.k) };
  if (Object.hasOwn(commonMetrics, text)) return { unit: 'share', scope: 'cases', hasTags: true, epochs: 1 };
  if (Object.hasOwn(guardMetrics, text)) return { unit: 'share', scope: 'guards', hasTags: true, epochs: 1 };
  if (Object.hasOwn(agreementMetrics, text))
    return { unit: 'share', scope: 'evals', hasTags: false, epochs: 1 };
  if (Object.hasOwn(latencyMetrics, text))
    return { unit: 'amount', scope: 'evals', hasTags: false, epochs: 1 };
  if (Object.hasOwn(totalMetrics, text)) return { unit: 'amount', scope: 'run', hasTags: false, epochs: 1 };
  return undefined;
}

type Group = Stats & {
  readonly classification?: Classification;
  readonly agreement?: EvalStats['agreement'];
  readonly latency_ms?: EvalStats['latency_ms'];
  readonly queue_ms?: EvalStats['queue_ms'];
};
type MetricReader = (group: Group) => number | null | undefined;

const commonMetrics: Readonly<Record<string, MetricReader>> = {
  mean: ({ mean }) => mean,
  median: ({ median }) => median,
  pass_rate: ({ pass_rate }) => pass_rate,
  p10: ({ p10 }) => p10,
  stderr: ({ stderr }) => stderr,
  unscored: ({ unscored_share }) => unscored_share,
  faults: ({ faults = 0, count }) => (count === 0 ? null : faults / count),
  flaky: ({ flaky, count }) => (count === 0 ? null : flaky / count),
};

const guardMetrics: Readonly<Record<string, MetricReader>> = {
  precision: ({ classification }) => classification?.precision,
  recall: ({ classification }) => classification?.recall,
  f1: ({ classification }) => classification?.f1,
  f2: ({ classification }) => classification?.f2,
  accuracy: ({ classification }) => classification?.accuracy,
  auc: ({ classification }) => classification?.auc,
};

const agreementMetrics: Readonly<Record<string, MetricReader>> = {
  kappa: ({ agreement }) => agreement?.kappa,
  agreement: ({ agreement }) => agreement?.observed,
};

const latencyMetrics: Readonly<Record<string, MetricReader>> = {
  p50_ms: ({ latency_ms }) => latency_ms?.p50,
  p99_ms: ({ latency_ms }) => latency_ms?.p99,
  queue_p50_ms: ({ queue_ms }) => queue_ms?.p50,
  queue_p99_ms: ({ queue_ms }) => queue_ms?.p99,
};

/** Metrics of the whole run. An incomplete sum is null, because comparing it with a bound could hide an overrun. */
const totalMetrics: Readonly<Record<string, (totals: Totals | undefined) => number | null>> = {
  cost_usd: (totals) => (totals === undefined || totals.unknown.cost_usd > 0 ? null : totals.cost_usd),
  input_tokens: (totals) => (totals === undefined || totals.unknown.tokens > 0 ? null : totals.input_tokens),
  output_tokens: (totals) =>
    totals === undefined || totals.unknown.tokens > 0 ? null : totals.output_tokens,
  answer_p50_ms: (totals) => totals?.answer_ms?.p50 ?? null,
  answer_p95_ms: (totals) => totals?.answer_ms?.p95 ?? null,
  answer_p99_ms: (totals) => totals?.answer_ms?.p99 ?? null,
  answer_queue_p95_ms: (totals) => totals?.queue_ms?.p95 ?? null,
};

export function isSumOfAnswers(metric: string): boolean {
  return ['cost_usd', 'input_tokens', 'output_tokens'].includes(metric);
}

export const gateMetricNames: readonly string[] = [
  ...Object.keys(commonMetrics),
  'pass@K',
  'pass^K',
  ...Object.keys(guardMetrics),
  ...Object.keys(agreementMetrics),
  ...Object.keys(latencyMetrics),
  ...Object.keys(totalMetrics),
];

function readMetric(metric: string, group: Group): number | null {
  const passK = parsePassK(metric);
  if (passK !== undefined) return ownMember(group[passK.chances], String(passK.k)) ?? null;
  const read =
    ownMember(commonMetrics, metric) ??
    ownMember(guardMetrics, metric) ??
    ownMember(agreementMetrics, metric) ??
    ownMember(latencyMetrics, metric);
  return read?.(group) ?? null;
}

function parsePassK(
  metric: string,
): { readonly chances: 'pass_at' | 'pass_hat'; readonly k: number } | undefined {
  const [, sign, k] = /^pass([@^])([1-9]\d{0,3})$/.exec(metric) ?? [];
  return sign === undefined ? undefined : { chances: sign === '@' ? 'pass_at' : 'pass_hat', k: Number(k) };
}

/** Own properties only: a tag may be named `constructor`. */
function ownMember<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
