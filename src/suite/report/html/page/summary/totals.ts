import type { Times, Totals } from '../../../../run/totals-record.ts';
import { factList, make } from '../dom.ts';
import { count, duration } from '../format.ts';

/** What the answers took: tokens, cost and time. */
export function renderTotals(totals: Totals) {
  const { answers, cached, failed, input_tokens: input, output_tokens: output, cost_usd: cost } = totals;
  const { unknown, answer_ms: times, queue_ms: waits } = totals;
  const facts = factList([
    ['Answers', `${count(answers)}${cached === 0 ? '' : `, ${count(cached)} cached`}`],
    ['Failed', failed === 0 ? null : count(failed)],
    ['Tokens in', input === null ? null : sum(count(input), unknown.tokens)],
    ['Tokens out', output === null ? null : sum(count(output), unknown.tokens)],
    ['Cost', cost === null ? null : sum(dollars(cost), unknown.cost_usd)],
    ['Answer time, p50 / p95 / p99', percentiles(times)],
    ['Queue, p50 / p95 / p99', waits === null || waits.sum < 1 ? null : percentiles(waits)],
    ['In queues altogether', waits === null || waits.sum < 1 ? null : duration(waits.sum)],
  ]);
  return make('section', { class: 'box', 'aria-label': 'Answers' }, facts);
}

/** A sum that lacks some answers says so. */
function sum(text: string, unknown: number) {
  return unknown === 0 ? text : `${text} (${count(unknown)} unknown)`;
}

function percentiles(times: Times | null) {
  return times === null ? null : [times.p50, times.p95, times.p99].map(duration).join(' / ');
}

function dollars(usd: number) {
  if (usd === 0 || usd >= 0.1) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(9, 1 - Math.floor(Math.log10(usd))))}`;
}
