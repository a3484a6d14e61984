import { nullOr, type Shape } from '../../base/json/shape.ts';
import type { Classification } from '../record.ts';
import { groupsOf, type Mergeable } from './mergeable.ts';

/** Decisions at one level of confidence: how many should have been flagged, and how many should not. */
export interface ConfidenceLevel {
  readonly confidence: number;
  readonly positives: number;
  readonly negatives: number;
}

/** Collects the confidences of decisions, rounded to four decimals. */
export interface RocCurve extends Mergeable<RocState> {
  add(expected: boolean, confidence: number | null): void;
  /** By falling confidence; undefined unless every decision came with one. */
  levels(): readonly ConfidenceLevel[] | undefined;
}

/** The bin of each confidence with its positives and negatives; null once a decision came without one. */
type RocState = readonly number[] | null;

export const rocState: Shape<RocState> = nullOr(groupsOf(3));

export function newRocCurve(): RocCurve {
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
export function areaUnder(levels: readonly ConfidenceLevel[]): number | null {
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
export function curvePoints(levels: readonly ConfidenceLevel[]): Classification['roc'] {
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
