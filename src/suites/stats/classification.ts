import { listOf, members, nullOr, number, type Shape, text } from '../../base/json/shape.ts';
import type { Classification, GuardRecord, Latency } from '../record.ts';
import { type LatencySketch, newLatencySketch } from './latency.ts';
import { type Counts, counts, groupsOf, type Mergeable } from './mergeable.ts';

/** Decisions at one level of confidence: how many should have been flagged, and how many should not. */
interface ConfidenceLevel {
  readonly confidence: number;
  readonly positives: number;
  readonly negatives: number;
}

/** Collects the confidences of decisions, rounded to four decimals. */
interface RocCurve extends Mergeable<RocState> {
  add(expected: boolean, confidence: number | null): void;
  /** By falling confidence; undefined unless every decision came with one. */
  levels(): readonly ConfidenceLevel[] | undefined;
}

/** The bin of each confidence with its positives and negatives; null once a decision came without one. */
type RocState = readonly number[] | null;

const rocState: Shape<RocState> = nullOr(groupsOf(3));

function newRocCurve(): RocCurve {
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
    add(expected, confidence) {
      if (confidence === null) giveUp();
      if (confidence === null || !isComplete) return;
      const level = levelOf(Math.round(confidence * levelsPerUnit));
      level[expected ? 'positives' : 'negatives'] += 1;
    },
    levels() {
      if (!isComplete) return undefined;
      const sorted = [...bins].sort(([a], [b]) => b - a);
      return sorted.map(([bin, level]) => ({ confidence: bin / levelsPerUnit, ...level }));
    },
    state: () =>
      isComplete ? [...bins].flatMap(([bin, { positives, negatives }]) => [bin, positives, negatives]) : null,
    merge(other) {
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

/** The resolution of confidences. */
const levelsPerUnit = 10_000;
const maxPoints = 101;

/**
 * The chance that what should be flagged has the higher confidence of two that are drawn, a tie counting half
 * (Mann-Whitney); null unless there are some of both.
 */
function areaUnder(levels: readonly ConfidenceLevel[]): number | null {
  const { positives, negatives } = totals(levels);
  if (positives === 0 || negatives === 0) return null;
  let above = 0;
  let halfWins = 0;
  for (const level of levels) {
    halfWins += level.negatives * (2 * above + level.positives);
    above += level.positives;
  }
  return halfWins / (2 * positives * negatives);
}

/** The curve from its first step to (1, 1), thinned evenly where it has too many; undefined unless there are some of both. */
function curvePoints(levels: readonly ConfidenceLevel[]): Classification['roc'] {
  const { positives, negatives } = totals(levels);
  if (positives === 0 || negatives === 0) return undefined;
  let [tp, fp] = [0, 0];
  const points = levels.map((level) => {
    tp += level.positives;
    fp += level.negatives;
    return { threshold: level.confidence, tpr: tp / positives, fpr: fp / negatives };
  });
  return thin(points);
}

function totals(levels: readonly ConfidenceLevel[]): { positives: number; negatives: number } {
  return {
    positives: levels.reduce((sum, level) => sum + level.positives, 0),
    negatives: levels.reduce((sum, level) => sum + level.negatives, 0),
  };
}

function thin<Point>(points: readonly Point[]): readonly Point[] {
  if (points.length <= maxPoints) return points;
  const last = points.length - 1;
  return Array.from({ length: maxPoints }, (_none, index) => {
    const point = points[Math.round((index * last) / (maxPoints - 1))];
    return point === undefined ? [] : [point];
  }).flat();
}

/**
 * Counts the decisions of a guard, in bounded memory and with the same result in any order. Of events
 * without a label only the durations count.
 */
interface ClassificationTally extends Mergeable<ClassificationState> {
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
