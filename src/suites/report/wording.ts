import { formatNumber } from '../../base/json/decimal.ts';
import { formatCount, formatUsd } from '../../base/text/phrases.ts';
import { fewestPairs, mostMissing, significance } from '../matrix/gates.ts';
import type { Failure, GateResult, GateTest, RunSummary, Spending } from '../record.ts';
import { isSumOfAnswers } from '../run/gates.ts';
import type { Agreement, Totals } from '../run/stats-record.ts';
import {
  formatDifference,
  formatDuration,
  formatInterval,
  formatP,
  formatPercent,
  formatScore,
} from './numbers.ts';

/** `case r1, exact: score 0.25: said 41`, or `case r1 (small), …` for a variant. May have several lines. */
export function describeFailure({ eval: evalId, ...result }: FailureWords): string {
  return `case ${nameCase({ ...result, id: result.case })}, ${evalId}: ${describeScore(result)}`;
}

type FailureWords = Pick<Failure, 'case' | 'variant' | 'eval' | 'score' | 'detail' | 'code'>;

/** `r1`, or `r1 (small)` in a matrix. */
export function nameCase({ id, variant }: NamedCase): string {
  return variant === undefined ? id : `${id} (${variant})`;
}

interface NamedCase {
  readonly id: string;
  readonly variant?: string | undefined;
}

/** `score 0.25: said 41`, or `unscored: [PROCESS_TIMEOUT] timed out`. */
export function describeScore({ score, detail, code }: Pick<Failure, 'score' | 'detail' | 'code'>): string {
  const verdict = score === null ? 'unscored' : `score ${formatScore(score)}`;
  const reason = code === undefined ? detail : `[${code}] ${detail}`;
  return reason === '' ? verdict : `${verdict}: ${reason}`;
}

/** `exact [large]: mean`, `all cases: mean`, or `exact (small): mean` for a variant. */
export function nameGate({
  eval: id,
  tag,
  variant,
  metric,
}: Pick<GateResult, 'eval' | 'tag' | 'variant' | 'metric'>): string {
  const group = tag === undefined ? '' : ` [${tag}]`;
  return `${nameCase({ id: id ?? 'all cases', variant })}${group}: ${metric}`;
}

/** `0.31, but wanted at least 0.5`. */
export function explainGate(gate: GateResult): string {
  const { metric, value, min, max, passed } = gate;
  if (gate.test !== undefined) return explainTest(gate, gate.test);
  const wanted = describeBounds({ min, max });
  if (value === null) {
    const why = isSumOfAnswers(metric) ? 'unknown, because some answers do not report it' : 'no data';
    return `${why}, wanted ${wanted}`;
  }
  const bound = min !== null && value < min ? min : max;
  return `${formatBeside(value, bound)}, ${passed ? 'wanted' : 'but wanted'} ${wanted}`;
}

export function describeBounds({ min, max }: Pick<GateResult, 'min' | 'max'>): string {
  const bounds = [min === null ? [] : [`at least ${min}`], max === null ? [] : [`at most ${max}`]].flat();
  return bounds.join(' and ');
}

/** Four decimals, or more if four would make the value look like the missed bound. */
export function formatBeside(value: number, bound: number | null): string {
  return formatNumber(value, bound === null ? [] : [bound]);
}

/** `29 faults`, `2 abstentions`: unscored results over all evals. */
export function countUnscored({ evals }: RunSummary): string[] {
  const all = Object.values(evals);
  const faults = all.reduce((sum, stats) => sum + (stats.faults ?? 0), 0);
  const abstentions = all.reduce((sum, stats) => sum + Math.max(0, stats.unscored - (stats.faults ?? 0)), 0);
  return [
    ...(faults === 0 ? [] : [formatCount(faults, 'fault')]),
    ...(abstentions === 0 ? [] : [formatCount(abstentions, 'abstention')]),
  ];
}

/** `4 cases × 3 epochs in 2.0 s`, or without an unknown duration. */
export function describeRun({ cases, epochs, variants, duration_ms: ms }: RunSummary): string {
  const times = epochs === 1 ? '' : ` × ${epochs} epochs`;
  const of = variants === undefined ? '' : ` of ${formatCount(variants.length, 'variant')}`;
  return `${formatCount(cases, 'case')}${of}${times}${ms === null ? '' : ` in ${formatDuration(ms)}`}`;
}

/** `2 invalid rows`, or `the run is invalid` for a run fault. */
export function countProblems({ problems, problem_count: count }: RunSummary): string[] {
  const ofRun = problems.filter(({ scope }) => scope === 'run').length;
  return [
    ...(ofRun === 0 ? [] : ['the run is invalid']),
    ...(count === ofRun ? [] : [formatCount(count - ofRun, 'invalid row')]),
  ];
}

export const bailedSentence = 'The run ended early, because it reached the maximum number of failures.';

/** `120 model calls for $0.31, 40 of them from the cache`. */
export function describeSpending({ calls, cached, cost_usd: cost }: Spending): string {
  const price = cost === null ? '' : ` for ${formatUsd(cost)}`;
  const kept = cached === 0 ? '' : `, ${cached} of them from the cache`;
  return `${formatCount(calls, 'model call')}${price}${kept}`;
}

/** `kappa 0.68 (0.53–0.82), the same verdict in 85.0% of 105 cases; 12 passed by it alone, 4 by people alone`. */
export function describeAgreement({ n, observed, kappa, ci95, only_eval, only_person }: Agreement): string {
  const measure = kappa === null ? 'no kappa' : `kappa ${kappa.toFixed(2)} (${formatInterval(ci95)})`;
  const same = `the same verdict in ${formatPercent(observed)} of ${formatCount(n, 'case')}`;
  return `${measure}, ${same}; ${only_eval} passed by it alone, ${only_person} by people alone`;
}

/** `120 answers, 40 cached: 34,100 tokens in, 8,020 out, $0.31; p50 812 ms, p95 1.9 s, p99 2.2 s; 35.0 s in queues`. */
export function describeTotals(totals: Totals): string {
  const { answers, cached, failed, input_tokens: input, output_tokens: output, cost_usd: cost } = totals;
  const { unknown, answer_ms: times, queue_ms: waits } = totals;
  const counted = [
    formatCount(answers, 'answer'),
    ...(cached === 0 ? [] : [`${cached} cached`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(', ');
  const tokens = [
    ...(input === null ? [] : [`${grouped.format(input)} tokens in`]),
    ...(output === null ? [] : [`${grouped.format(output)} ${input === null ? 'tokens ' : ''}out`]),
  ].join(', ');
  const missing = (lacks: number) => (lacks === 0 ? '' : ` (${lacks} of ${answers} unknown)`);
  const used = [
    ...(tokens === '' ? [] : [`${tokens}${missing(unknown.tokens)}`]),
    ...(cost === null ? [] : [`${formatUsd(cost)}${missing(unknown.cost_usd)}`]),
  ].join(', ');
  const percentiles =
    times && (['p50', 'p95', 'p99'] as const).map((name) => `${name} ${formatDuration(times[name])}`);
  const parts = [
    ...(used === '' ? [] : [used]),
    ...(percentiles === null ? [] : [percentiles.join(', ')]),
    ...(waits === null || waits.sum < 1 ? [] : [`${formatDuration(waits.sum)} in queues`]),
  ];
  return parts.length === 0 ? counted : `${counted}: ${parts.join('; ')}`;
}

const grouped = new Intl.NumberFormat('en');

/** `+0.120 (+0.031 to +0.209) against small, p = 0.0093 (paired t of 120 pairs, 31 of them ties)`. */
export function explainTest({ value, better_than: base = '', passed }: GateResult, test: GateTest): string {
  const { name, pairs, p_value: p, ties, unscored, unpaired, ci95 } = test;
  const counts = [
    `${testNames[name]} of ${formatCount(pairs, 'pair')}`,
    ...(ties === 0 ? [] : [`${ties} tied`]),
    ...(unscored === 0 ? [] : [`${unscored} without both scores`]),
    ...(unpaired === 0 ? [] : [`${formatCount(unpaired, 'case')} of only one variant`]),
  ];
  const found = [
    ...(value === null ? [] : [`${formatDifference(value, ci95)} against ${base}`]),
    ...(p === null ? [] : [formatP(p)]),
  ];
  const what = found.length === 0 ? `nothing to compare with ${base}` : found.join(', ');
  return `${what} (${counts.join(', ')})${passed ? '' : `, but ${whyMissed(test, value, base)}`}`;
}

const testNames = {
  mcnemar: 'McNemar’s exact test',
  sign_flip: 'exact sign-flip test',
  paired_t: 'paired t test',
} as const satisfies Record<GateTest['name'], string>;

function whyMissed({ flaw, pairs, ties }: GateTest, value: number | null, base: string): string {
  if (flaw === 'too_few_pairs') return `too few pairs: at least ${fewestPairs} are needed`;
  if (flaw === 'too_many_missing')
    return `more than ${mostMissing * 100} % of the cases lack a result of one side`;
  if (value !== null && value <= 0) return `wanted better than ${base}`;
  const changed = pairs - ties;
  if (changed < fewestPairs) return `only ${changed} pairs differ: at least ${fewestPairs} are needed`;
  return `wanted better than ${base} with p < ${significance}`;
}
