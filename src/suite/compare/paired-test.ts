import { members, nullOr, number, type Shape } from '../../json/shape.ts';
import type { ScoreDifference } from '../run/difference-record.ts';
import { newExactSum } from '../stats/exact-sum.ts';
import { groupsOf, type Mergeable } from '../stats/mergeable.ts';
import { studentPValue, studentQuantile95 } from './student-t.ts';

/** Compares the scores of pairs, B − A, in memory that does not grow with their number. */
export interface PairedScores extends Mergeable<PairedScoresState> {
  add(a: number, b: number): void;
  /** The same in whatever order they came; null without pairs. */
  difference(): ScoreDifference | null;
}

export interface PairedScoresState {
  readonly pairs: number;
  readonly ties: number;
  readonly sum_a: readonly number[];
  readonly sum_b: readonly number[];
  readonly sum: readonly number[];
  readonly squares: readonly number[];
  readonly sizes: readonly number[];
  /** Null without pairs, as the greatest. */
  readonly least: number | null;
  readonly greatest: number | null;
}

export const pairedScoresState: Shape<PairedScoresState> = members<PairedScoresState>({
  ...{ pairs: number, ties: number },
  ...{ sum_a: groupsOf(1), sum_b: groupsOf(1), sum: groupsOf(1), squares: groupsOf(1), sizes: groupsOf(1) },
  ...{ least: nullOr(number), greatest: nullOr(number) },
});

export function newPairedScores(): PairedScores {
  const [ofA, ofB, all, squares] = [newExactSum(), newExactSum(), newExactSum(), newExactSum()];
  /** The differences that are not 0, as far as the exact test needs them. */
  const sizes: number[] = [];
  let [pairs, ties] = [0, 0];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const keepSizes = (more: readonly number[]): void => {
    sizes.push(...more.slice(0, maxSignFlips + 1 - sizes.length));
  };
  return {
    add(a, b) {
      const each = b - a;
      pairs += 1;
      ofA.add(a);
      ofB.add(b);
      all.add(each);
      squares.add(each ** 2);
      least = Math.min(least, each);
      most = Math.max(most, each);
      if (each === 0) ties += 1;
      else keepSizes([each]);
    },
    state: () => ({
      ...{ pairs, ties, sum_a: ofA.state(), sum_b: ofB.state(), sum: all.state(), squares: squares.state() },
      ...{ sizes: [...sizes], least: pairs === 0 ? null : least, greatest: pairs === 0 ? null : most },
    }),
    merge(other) {
      pairs += other.pairs;
      ties += other.ties;
      ofA.merge(other.sum_a);
      ofB.merge(other.sum_b);
      all.merge(other.sum);
      squares.merge(other.squares);
      keepSizes(other.sizes);
      least = Math.min(least, other.least ?? least);
      most = Math.max(most, other.greatest ?? most);
    },
    difference() {
      if (pairs === 0) return null;
      const difference = all.value() / pairs;
      const stderr = standardError({ pairs, difference, squares: squares.value(), isOne: least === most });
      const margin = stderr === null ? null : stderr === 0 ? 0 : stderr * studentQuantile95(pairs - 1);
      return {
        ...{ pairs, ties, mean_a: ofA.value() / pairs, mean_b: ofB.value() / pairs, difference, stderr },
        ci95: margin === null ? null : [Math.max(-1, difference - margin), Math.min(1, difference + margin)],
        ...testDifferences({ sizes, pairs, ties, mean: difference, stderr }),
      };
    },
  };
}

interface Spread {
  readonly pairs: number;
  readonly difference: number;
  /** The sum of the squares of all differences. */
  readonly squares: number;
  /** All differences are the same. */
  readonly isOne: boolean;
}

function standardError({ pairs, difference, squares, isOne }: Spread): number | null {
  if (pairs < 2) return null;
  if (isOne) return 0;
  const aroundMean = Math.max(0, squares - pairs * difference ** 2);
  return Math.sqrt(aroundMean / (pairs - 1) / pairs);
}

/** The greatest number of differences for the exact test, which tries 2^n signs. */
const maxSignFlips = 16;

/**
 * Few differences are tested by trying all their signs, which assumes nothing of how they are spread; many by
 * Student's t. All of one size are no basis for a t, and their signs alone speak.
 */
function testDifferences({
  sizes,
  pairs,
  ties,
  mean,
  stderr,
}: TestedDifferences): Pick<ScoreDifference, 'p_value' | 'test'> {
  if (stderr === null) return { p_value: null, test: 'sign_flip' };
  const changed = pairs - ties;
  if (changed <= maxSignFlips) {
    return { p_value: signFlipP(sizes.toSorted((x, y) => x - y)), test: 'sign_flip' };
  }
  if (stderr === 0) return { p_value: 2 ** (1 - changed), test: 'sign_flip' };
  return { p_value: studentPValue(mean / stderr, pairs - 1), test: 'paired_t' };
}

interface TestedDifferences {
  /** Those that are not 0; only the first where there are many. */
  readonly sizes: readonly number[];
  readonly pairs: number;
  readonly ties: number;
  readonly mean: number;
  readonly stderr: number | null;
}

/** The share of all ways to give the differences signs whose sum is at least as far from 0 as theirs. */
function signFlipP(differences: readonly number[]): number {
  const observed = Math.abs(sumOf(differences));
  // The same sum may come out a little smaller in another order.
  const bar = observed - 1e-12;
  const ways = 2 ** differences.length;
  let extreme = 0;
  for (let signs = 0; signs < ways; signs++) {
    let sum = 0;
    for (const [index, each] of differences.entries()) sum += (signs >> index) & 1 ? -each : each;
    if (Math.abs(sum) >= bar) extreme += 1;
  }
  return extreme / ways;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
