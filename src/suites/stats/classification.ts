import { listOf, members, nullOr, number, type TypeOf, text } from '../../base/json/shape.ts';
import type { Classification, GuardRecord } from '../record.ts';
import { type LatencySketch, newLatencySketch } from './distribution.ts';
import { combine, counts, groupsOf, type Mergeable, newCells } from './mergeable.ts';

interface ClassificationTally extends Mergeable<ClassificationState> {
  add(guard: GuardSample): void;
  classification(): Classification | undefined;
}

type ClassificationState = TypeOf<typeof classificationState>;

export const classificationState = members({
  decisions: number,
  /** True positives, false positives, true negatives, false negatives. */
  quadrants: groupsOf(4),
  curve: nullOr(groupsOf(3)),
  hooks: listOf(members({ name: text, latencies: counts })),
});

export type GuardSample = Pick<GuardRecord, 'expected' | 'flagged' | 'confidence'> & {
  readonly hooks: readonly { readonly name: string; readonly duration_ms: number }[];
};

export function newClassificationTally(): ClassificationTally {
  const [quadrants, curve, hooks] = [newCells(4), newRocCurve(), newHookLatencies()];
  const parts = combine({ quadrants, curve, hooks });
  let decisions = 0;
  return {
    add({ expected, flagged, confidence, hooks: asked }) {
      decisions += 1;
      if (expected !== null) {
        quadrants.add(flagged ? (expected ? 0 : 1) : expected ? 3 : 2);
        curve.add(expected, confidence);
      }
      for (const { name, duration_ms } of asked) hooks.of(name).add(duration_ms);
    },
    classification() {
      if (decisions === 0) return undefined;
      const [tp = 0, fp = 0, tn = 0, fn = 0] = quadrants.state();
      const levels = curve.levels();
      const roc = levels === undefined ? undefined : curvePoints(levels);
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
        auc: levels === undefined ? null : areaUnder(levels),
        ...(roc === undefined ? {} : { roc }),
        latency_ms: hooks.latencies(),
      };
    },
    state: () => ({ decisions, ...parts.state() }),
    merge(other) {
      decisions += other.decisions;
      parts.merge(other);
    },
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function newHookLatencies() {
  const sketches = new Map<string, LatencySketch>();
  const of = (name: string): LatencySketch => {
    const sketch = sketches.get(name) ?? newLatencySketch();
    sketches.set(name, sketch);
    return sketch;
  };
  return {
    of,
    latencies() {
      const sorted = [...sketches].sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(
        sorted.flatMap(([name, sketch]) => {
          const latency = sketch.latency();
          return latency === null ? [] : [[name, latency] as const];
        }),
      );
    },
    state: () => [...sketches].map(([name, sketch]) => ({ name, latencies: sketch.state() })),
    merge(other: ClassificationState['hooks']) {
      for (const { name, latencies } of other) of(name).merge(latencies);
    },
  };
}

interface ConfidenceLevel {
  readonly confidence: number;
  readonly positives: number;
  readonly negatives: number;
}

function newRocCurve() {
  const bins = new Map<number, { positives: number; negatives: number }>();
  let isComplete = true;
  const levelOf = (bin: number) => {
    const level = bins.get(bin) ?? { positives: 0, negatives: 0 };
    bins.set(bin, level);
    return level;
  };
  const giveUp = (): void => {
    isComplete = false;
    bins.clear();
  };
  return {
    add(expected: boolean, confidence: number | null): void {
      if (confidence === null) giveUp();
      if (confidence === null || !isComplete) return;
      const level = levelOf(Math.round(confidence * levelsPerUnit));
      level[expected ? 'positives' : 'negatives'] += 1;
    },
    levels(): readonly ConfidenceLevel[] | undefined {
      if (!isComplete) return undefined;
      const sorted = [...bins].sort(([a], [b]) => b - a);
      return sorted.map(([bin, level]) => ({ confidence: bin / levelsPerUnit, ...level }));
    },
    state: () =>
      isComplete ? [...bins].flatMap(([bin, { positives, negatives }]) => [bin, positives, negatives]) : null,
    merge(other: ClassificationState['curve']): void {
      if (other === null) giveUp();
      if (other === null || !isComplete) return;
      for (let at = 0; at < other.length; at += 3) {
        const level = levelOf(other[at] ?? 0);
        level.positives += other[at + 1] ?? 0;
        level.negatives += other[at + 2] ?? 0;
      }
    },
  };
}

const levelsPerUnit = 10_000;

/**
 * The probability that a random positive has a higher confidence than a random negative, with ties counting half
 * (Mann-Whitney). Null unless there are both.
 */
function areaUnder(levels: readonly ConfidenceLevel[]): number | null {
  const [positives, negatives] = totals(levels);
  if (positives === 0 || negatives === 0) return null;
  let above = 0;
  let halfWins = 0;
  for (const level of levels) {
    halfWins += level.negatives * (2 * above + level.positives);
    above += level.positives;
  }
  return halfWins / (2 * positives * negatives);
}

function curvePoints(levels: readonly ConfidenceLevel[]): Classification['roc'] {
  const [positives, negatives] = totals(levels);
  if (positives === 0 || negatives === 0) return undefined;
  let [tp, fp] = [0, 0];
  const points = levels.map((level) => {
    tp += level.positives;
    fp += level.negatives;
    return { threshold: level.confidence, tpr: tp / positives, fpr: fp / negatives };
  });
  if (points.length <= maxPoints) return points;
  const step = (points.length - 1) / (maxPoints - 1);
  return Array.from({ length: maxPoints }, (_none, index) => points[Math.round(index * step)] ?? []).flat();
}

const maxPoints = 101;

function totals(levels: readonly ConfidenceLevel[]): [positives: number, negatives: number] {
  return [
    levels.reduce((sum, level) => sum + level.positives, 0),
    levels.reduce((sum, level) => sum + level.negatives, 0),
  ];
}
