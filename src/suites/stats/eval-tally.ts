import { members, optional, type Shape } from '../../base/json/shape.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import type { Classification, EvalResult, EvalStats, Stats } from '../record.ts';
import { type AgreementCounts, agreementCounts, newAgreementTally } from './agreement.ts';
import { type ClassificationState, classificationState, newClassificationTally } from './classification.ts';
import type { Precision } from './distribution.ts';
import { newLatencySketch } from './latency.ts';
import { type Counts, counts, groupsOf, type Mergeable } from './mergeable.ts';
import { type ExactMetrics, newTally, type TallyInput, type TallyState, tallyState } from './tally.ts';

/** The statistics of one eval, over all cases or those of a tag. */
export interface EvalTally extends Mergeable<EvalTallyState> {
  /** `asked`: the results of the eval in each epoch. */
  add(result: TallyInput, asked: readonly EvalResult[]): void;
  evalStats(): Omit<EvalStats, 'tags'>;
  exactly(): ExactMetrics;
  tagStats(): Stats & { readonly classification?: Classification };
}

export interface EvalTallyState {
  readonly results: TallyState;
  readonly histogram: readonly number[];
  readonly latencies: Counts;
  readonly waits: Counts;
  readonly decisions: ClassificationState;
  /** Absent in tallies of an earlier Signalbox. */
  readonly labels?: AgreementCounts;
}

export const evalTallyState: Shape<EvalTallyState> = members<EvalTallyState>({
  results: tallyState,
  histogram: groupsOf(10),
  latencies: counts,
  waits: counts,
  decisions: classificationState,
  labels: optional(agreementCounts),
});

export function newEvalTally(epochs: number, precision: Precision): EvalTally {
  const tally = newTally(epochs, precision);
  const histogram = Array<number>(10).fill(0);
  const latencies = newLatencySketch();
  const waits = newLatencySketch();
  const decisions = newClassificationTally();
  const labels = newAgreementTally();
  const withClassification = () => {
    const classification = decisions.classification();
    return classification === undefined ? {} : { classification };
  };
  return {
    add(result, results) {
      tally.add(result);
      if (result.score !== null) {
        const tenth = tenthOf(result.score);
        histogram[tenth] = (histogram[tenth] ?? 0) + 1;
      }
      // What a person said of a case is the same in each of its epochs.
      const label = results[0]?.label;
      if (label !== undefined && result.score !== null) labels.add(result.passed, label);
      for (const { duration_ms, queue_ms, guard } of results) {
        latencies.add(duration_ms);
        if (queue_ms !== undefined) waits.add(queue_ms);
        if (guard !== undefined) decisions.add(guard);
      }
    },
    evalStats: () => ({
      ...tally.stats(),
      histogram: [...histogram],
      latency_ms: latencies.latency(),
      queue_ms: waits.latency(),
      ...withClassification(),
      ...omitUndefined({ agreement: labels.agreement() }),
    }),
    exactly: tally.exactly,
    tagStats: () => ({ ...tally.stats(), ...withClassification() }),
    state: () => ({
      results: tally.state(),
      histogram: [...histogram],
      latencies: latencies.state(),
      waits: waits.state(),
      decisions: decisions.state(),
      labels: labels.state(),
    }),
    merge(other) {
      tally.merge(other.results);
      for (const [tenth, cases] of other.histogram.entries())
        histogram[tenth] = (histogram[tenth] ?? 0) + cases;
      latencies.merge(other.latencies);
      waits.merge(other.waits);
      decisions.merge(other.decisions);
      if (other.labels !== undefined) labels.merge(other.labels);
    },
  };
}

function tenthOf(score: number): number {
  return Math.min(9, Math.floor(score * 10));
}
