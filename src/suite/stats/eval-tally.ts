import type { Classification, EvalResult, EvalStats, Stats } from '../run/record.ts';
import { newClassificationTally } from './classification.ts';
import { newLatencySketch } from './latency.ts';
import { newTally, type Tallied } from './tally.ts';

/** The statistics of one eval, over all cases or those of a tag. */
export interface EvalTally {
  /** `asked` has what the eval said epoch by epoch. */
  add(result: Tallied, asked: readonly EvalResult[]): void;
  evalStats(): Omit<EvalStats, 'tags'>;
  tagStats(): Stats & { readonly classification?: Classification };
}

export function newEvalTally(epochs: number): EvalTally {
  const tally = newTally(epochs);
  const histogram = Array<number>(10).fill(0);
  const latencies = newLatencySketch();
  const waits = newLatencySketch();
  const decisions = newClassificationTally();
  const classified = () => {
    const classification = decisions.classification();
    return classification === undefined ? {} : { classification };
  };
  return {
    add(result, asked) {
      tally.add(result);
      if (result.score !== null) {
        const tenth = tenthOf(result.score);
        histogram[tenth] = (histogram[tenth] ?? 0) + 1;
      }
      for (const { duration_ms, queue_ms, guard } of asked) {
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
      ...classified(),
    }),
    tagStats: () => ({ ...tally.stats(), ...classified() }),
  };
}

function tenthOf(score: number): number {
  return Math.min(9, Math.floor(score * 10));
}
