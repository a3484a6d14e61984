import { formatCount } from '../../text/format-count.ts';
import type { Times, Totals } from '../run/totals-record.ts';
import { formatDuration } from './numbers.ts';

/** `120 answers, 40 cached: 34,100 tokens in, 8,020 out, $0.31; p50 812 ms, p95 1.9 s, p99 2.2 s; 35.0 s in queues`. */
export function describeTotals(totals: Totals): string {
  const { answers, cached, failed, answer_ms: times, queue_ms: waits } = totals;
  const counted = [
    formatCount(answers, 'answer'),
    ...(cached === 0 ? [] : [`${cached} cached`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(', ');
  const used = usedParts(totals).join(', ');
  const parts = [
    ...(used === '' ? [] : [used]),
    ...(times === null ? [] : [describeTimes(times)]),
    ...(waits === null || waits.sum < 1 ? [] : [`${formatDuration(waits.sum)} in queues`]),
  ];
  return parts.length === 0 ? counted : `${counted}: ${parts.join('; ')}`;
}

/** Sums that lack some answers say so. */
function usedParts({ answers, input_tokens: input, output_tokens: output, cost_usd: cost, unknown }: Totals) {
  const tokens = [
    ...(input === null ? [] : [`${grouped.format(input)} tokens in`]),
    ...(output === null ? [] : [`${grouped.format(output)} ${input === null ? 'tokens ' : ''}out`]),
  ].join(', ');
  return [
    ...(tokens === '' ? [] : [`${tokens}${missing(unknown.tokens, answers)}`]),
    ...(cost === null ? [] : [`${formatCost(cost)}${missing(unknown.cost_usd, answers)}`]),
  ];
}

function missing(unknown: number, answers: number): string {
  return unknown === 0 ? '' : ` (${unknown} of ${answers} unknown)`;
}

function describeTimes({ p50, p95, p99 }: Times): string {
  return `p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}, p99 ${formatDuration(p99)}`;
}

const grouped = new Intl.NumberFormat('en');

/** `$1.25`; small amounts with two digits of their own, as `$0.00031`. */
export function formatCost(usd: number): string {
  if (usd === 0 || usd >= 0.1) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(9, 1 - Math.floor(Math.log10(usd))))}`;
}
