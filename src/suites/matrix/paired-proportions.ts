import type { PairedDifference } from '../run/difference-record.ts';
import type { Interval } from '../run/stats-record.ts';

/**
 * The 95 % interval of the difference of two pass rates over the same cases, B − A: Wald's with half a pair more in each
 * cell, which keeps its level with few pairs (Agresti and Min, "Simple improved confidence intervals for comparing matched
 * proportions", 2005). Null without pairs.
 */
export function differenceInterval(table: PairedDifference['table']): Interval | null {
  const { both_passed: both, only_a_passed: onlyA, only_b_passed: onlyB, neither_passed: neither } = table;
  const pairs = both + onlyA + onlyB + neither;
  if (pairs === 0) return null;
  const n = pairs + 2;
  const difference = (onlyB - onlyA) / n;
  const spread = (onlyA + onlyB + 1) / n - difference ** 2;
  const margin = 1.959963984540054 * Math.sqrt(Math.max(0, spread) / n);
  return [Math.max(-1, difference - margin), Math.min(1, difference + margin)];
}
