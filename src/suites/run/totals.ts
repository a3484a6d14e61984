import { newDecimalSum } from '../../base/json/decimal.ts';
import { type MembersOf, members, number, type TypeOf } from '../../base/json/shape.ts';
import type { CaseRecord, EpochRecord } from '../record.ts';
import { newLatencySketch } from '../stats/distribution.ts';
import { counts, decimalSumState, type Mergeable } from '../stats/mergeable.ts';
import type { ExactMetrics } from '../stats/tally.ts';
import type { Times, Totals } from './stats-record.ts';

export interface TotalsTally extends Mergeable<TotalsState> {
  add(record: Pick<CaseRecord, 'epochs'>): void;
  /** Undefined if no answers were made and no recorded ones report usage. */
  totals(): Totals | undefined;
  /** The metrics of `totals` before rounding to doubles. */
  exactly(): ExactMetrics;
}

type SumState = TypeOf<typeof sumState>;
const sumState = members({ count: number, sum: decimalSumState });
type TimesState = TypeOf<typeof timesState>;
const timesState = members({ count: number, sum: decimalSumState, bins: counts });

export interface TotalsState extends MembersOf<typeof totalsStateMembers> {}
const totalsStateMembers = {
  answers: number,
  cached: number,
  failed: number,
  input_tokens: sumState,
  output_tokens: sumState,
  cost_usd: sumState,
  unknown_tokens: number,
  answer_ms: timesState,
  queue_ms: timesState,
};
export const totalsState = members<TotalsState>(totalsStateMembers);

export function newTotalsTally(): TotalsTally {
  let [answers, cached, failed, unknownTokens] = [0, 0, 0, 0];
  const [input, output, cost] = [newKnownSum(), newKnownSum(), newKnownSum()];
  const [times, waits] = [newTimes(), newTimes()];
  const addAnswer = ({ subject, metadata }: EpochRecord): void => {
    const { input_tokens, output_tokens, cost_usd, latency_ms } = metadata;
    const told = [input_tokens, output_tokens, cost_usd, latency_ms];
    if (subject === undefined && !told.some(isAmount)) return;
    answers += 1;
    if (subject?.status === 'failed') failed += 1;
    if (subject?.cached === true) cached += 1;
    input.add(input_tokens);
    output.add(output_tokens);
    cost.add(cost_usd);
    if (!isAmount(input_tokens) || !isAmount(output_tokens)) unknownTokens += 1;
    // These answers have no meaningful duration.
    if (subject?.cached === true || subject?.status === 'failed') return;
    times.add(subject?.duration_ms ?? latency_ms);
    waits.add(subject?.queue_ms);
  };
  return {
    add: ({ epochs }) => epochs.forEach(addAnswer),
    totals: () =>
      answers === 0
        ? undefined
        : {
            ...{ answers, cached, failed },
            ...{ input_tokens: input.value(), output_tokens: output.value(), cost_usd: cost.value() },
            unknown: { tokens: unknownTokens, cost_usd: answers - cost.count() },
            ...{ answer_ms: times.value(), queue_ms: waits.value() },
          },
    exactly: () => ({
      ...{ input_tokens: input.exact(), output_tokens: output.exact(), cost_usd: cost.exact() },
    }),
    state: () => ({
      ...{ answers, cached, failed, unknown_tokens: unknownTokens },
      ...{ input_tokens: input.state(), output_tokens: output.state(), cost_usd: cost.state() },
      ...{ answer_ms: times.state(), queue_ms: waits.state() },
    }),
    merge(other) {
      answers += other.answers;
      cached += other.cached;
      failed += other.failed;
      unknownTokens += other.unknown_tokens;
      input.merge(other.input_tokens);
      output.merge(other.output_tokens);
      cost.merge(other.cost_usd);
      times.merge(other.answer_ms);
      waits.merge(other.queue_ms);
    },
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function newKnownSum() {
  const sum = newDecimalSum();
  let known = 0;
  return {
    add(value: unknown): void {
      if (!isAmount(value)) return;
      known += 1;
      sum.add(value);
    },
    count: () => known,
    exact: () => (known === 0 ? null : sum.exact()),
    value: () => (known === 0 ? null : sum.value()),
    state: (): SumState => ({ count: known, sum: sum.state() }),
    merge(other: SumState): void {
      known += other.count;
      sum.merge(other.sum);
    },
  };
}

function newTimes() {
  const sketch = newLatencySketch();
  const sum = newKnownSum();
  return {
    add(value: unknown): void {
      if (!isAmount(value)) return;
      sketch.add(value);
      sum.add(value);
    },
    value(): Times | null {
      const total = sum.value();
      const percentiles = sketch.percentiles([50, 95, 99]);
      const [p50, p95, p99] = percentiles;
      if (total === null || p50 === undefined || p95 === undefined || p99 === undefined) return null;
      return { p50, p95, p99, sum: Math.round(total) };
    },
    state: (): TimesState => ({ ...sum.state(), bins: sketch.state() }),
    merge({ bins, ...other }: TimesState): void {
      sum.merge(other);
      sketch.merge(bins);
    },
  };
}
