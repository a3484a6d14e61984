import { listOf, members, number, type Shape, text } from '../../base/json/shape.ts';
import type { Classification, GuardRecord, Latency } from '../record.ts';
import { type LatencySketch, newLatencySketch } from './latency.ts';
import { type Counts, counts, groupsOf, type Mergeable } from './mergeable.ts';
import { areaUnder, curvePoints, newRocCurve, type RocCurve, rocState } from './roc.ts';

/**
 * Counts the decisions of a guard, in bounded memory and with the same result in any order. Of events
 * without a label only the durations count.
 */
export interface ClassificationTally extends Mergeable<ClassificationState> {
  add(guard: GuardSample): void;
  /** Undefined when there was no decision. */
  classification(): Classification | undefined;
}

export interface ClassificationState {
  readonly decisions: number;
  /** True positives, false positives, true negatives, false negatives. */
  readonly quadrants: readonly number[];
  readonly curve: ReturnType<RocCurve['state']>;
  /** The latencies of each hook. */
  readonly hooks: readonly { readonly name: string; readonly latencies: Counts }[];
}

export const classificationState: Shape<ClassificationState> = members<ClassificationState>({
  decisions: number,
  quadrants: groupsOf(4),
  curve: rocState,
  hooks: listOf(members({ name: text, latencies: counts })),
});

/** What the tally needs of a decision. */
export type GuardSample = Pick<GuardRecord, 'expected' | 'flagged' | 'confidence'> & {
  readonly hooks: readonly { readonly name: string; readonly duration_ms: number }[];
};

export function newClassificationTally(): ClassificationTally {
  const quadrants = { truePositives: 0, falsePositives: 0, trueNegatives: 0, falseNegatives: 0 };
  const curve = newRocCurve();
  let decisions = 0;
  const sketches = new Map<string, LatencySketch>();
  const sketchOf = (name: string): LatencySketch => {
    const sketch = sketches.get(name) ?? newLatencySketch();
    sketches.set(name, sketch);
    return sketch;
  };
  return {
    add({ expected, flagged, confidence, hooks }) {
      decisions += 1;
      if (expected !== null) {
        if (flagged) quadrants[expected ? 'truePositives' : 'falsePositives'] += 1;
        else quadrants[expected ? 'falseNegatives' : 'trueNegatives'] += 1;
        curve.add(expected, confidence);
      }
      for (const { name, duration_ms } of hooks) sketchOf(name).add(duration_ms);
    },
    classification() {
      if (decisions === 0) return undefined;
      const levels = curve.levels();
      const roc = levels === undefined ? undefined : curvePoints(levels);
      return {
        ...ratios(quadrants),
        auc: levels === undefined ? null : areaUnder(levels),
        ...(roc === undefined ? {} : { roc }),
        latency_ms: latencies(sketches),
      };
    },
    state: () => ({
      decisions,
      quadrants: quadrantNames.map((name) => quadrants[name]),
      curve: curve.state(),
      hooks: [...sketches].map(([name, sketch]) => ({ name, latencies: sketch.state() })),
    }),
    merge(other) {
      decisions += other.decisions;
      for (const [index, name] of quadrantNames.entries()) quadrants[name] += other.quadrants[index] ?? 0;
      curve.merge(other.curve);
      for (const { name, latencies: added } of other.hooks) sketchOf(name).merge(added);
    },
  };
}

const quadrantNames = ['truePositives', 'falsePositives', 'trueNegatives', 'falseNegatives'] as const;

type Quadrants = Readonly<Record<(typeof quadrantNames)[number], number>>;

function ratios({ truePositives: tp, falsePositives: fp, trueNegatives: tn, falseNegatives: fn }: Quadrants) {
  return {
    true_positives: tp,
    false_positives: fp,
    true_negatives: tn,
    false_negatives: fn,
    precision: share(tp, tp + fp),
    recall: share(tp, tp + fn),
    f1: share(2 * tp, 2 * tp + fn + fp),
    f2: share(5 * tp, 5 * tp + 4 * fn + fp),
    accuracy: share(tp + tn, tp + fp + tn + fn),
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function latencies(sketches: ReadonlyMap<string, LatencySketch>): Record<string, Latency> {
  const sorted = [...sketches].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.flatMap(([name, sketch]) => {
      const latency = sketch.latency();
      return latency === null ? [] : [[name, latency] as const];
    }),
  );
}
