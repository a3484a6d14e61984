import { meanOf } from '../stats/averages.ts';
import { newExactSum } from '../stats/exact-sum.ts';
import type { ScoreDifference } from './comparison.ts';
import { studentPValue, studentQuantile95 } from './student-t.ts';

/** Compares the scores of pairs, B − A, with interval and p-value; null without pairs. */
export function comparePaired(a: readonly number[], b: readonly number[]): ScoreDifference | null {
  if (a.length === 0) return null;
  const differences = a.map((score, index) => (b[index] ?? Number.NaN) - score);
  const difference = meanOf(differences);
  const stderr = standardError(differences, difference);
  const margin =
    stderr === null ? null : stderr === 0 ? 0 : stderr * studentQuantile95(differences.length - 1);
  return {
    pairs: differences.length,
    mean_a: meanOf(a),
    mean_b: meanOf(b),
    difference,
    stderr,
    ci95: margin === null ? null : [Math.max(-1, difference - margin), Math.min(1, difference + margin)],
    ...testDifferences(differences, difference, stderr),
  };
}

function standardError(differences: readonly number[], mean: number): number | null {
  const { length } = differences;
  if (length < 2) return null;
  if (differences.every((each) => each === differences[0])) return 0;
  const squares = newExactSum();
  for (const each of differences) squares.add((each - mean) ** 2);
  return Math.sqrt(squares.value() / (length - 1) / length);
}

/** The greatest number of differences for the exact test, which tries 2^n signs. */
const maxSignFlips = 16;

/**
 * Few differences are tested by trying all their signs, which assumes nothing of how they are spread; many by
 * Student's t. All of one size are no basis for a t, and their signs alone speak.
 */
function testDifferences(
  differences: readonly number[],
  mean: number,
  stderr: number | null,
): Pick<ScoreDifference, 'p_value' | 'test'> {
  if (stderr === null) return { p_value: null, test: 'sign_flip' };
  const sizes = differences.filter((each) => each !== 0).sort((x, y) => x - y);
  if (sizes.length <= maxSignFlips) return { p_value: signFlipP(sizes), test: 'sign_flip' };
  if (stderr === 0) return { p_value: 2 ** (1 - sizes.length), test: 'sign_flip' };
  return { p_value: studentPValue(mean / stderr, differences.length - 1), test: 'paired_t' };
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
