import type { Mergeable } from './mergeable.ts';

/** A running sum of finite numbers; its state is numbers whose sum it is, some forty at most. */
export interface ExactSum extends Mergeable<readonly number[]> {
  add(number: number): void;
  /** The true sum, rounded once: the same in whatever order the numbers came. */
  value(): number;
}

/**
 * Keeps the sum as a few doubles that do not overlap (Shewchuk, "Adaptive Precision Floating-Point
 * Arithmetic", 1997), so that no digit is ever lost and no order of results changes a verdict.
 */
export function newExactSum(): ExactSum {
  const parts: number[] = [];
  // In place, because it is called for every score of every group.
  const add = (number: number): void => {
    let kept = 0;
    let carry = number;
    for (const part of parts) {
      const sum = carry + part;
      const rest = Math.abs(carry) < Math.abs(part) ? carry - (sum - part) : part - (sum - carry);
      if (rest !== 0) {
        parts[kept] = rest;
        kept += 1;
      }
      carry = sum;
    }
    parts[kept] = carry;
    parts.length = kept + 1;
  };
  return {
    add,
    value: () => roundOnce(parts),
    state: () => [...parts],
    merge: (other) => other.forEach(add),
  };
}

/** The rounded sum of two doubles and exactly what the rounding left over. */
function addExactly(a: number, b: number): [sum: number, rest: number] {
  const [large, small] = Math.abs(a) < Math.abs(b) ? [b, a] : [a, b];
  const sum = large + small;
  return [sum, small - (sum - large)];
}

/**
 * Adds from the largest part down until digits get lost, then rounds a tie by the sign of the next part.
 */
function roundOnce(parts: readonly number[]): number {
  let at = parts.length - 1;
  let [sum, rest] = [parts[at] ?? 0, 0];
  while (at > 0 && rest === 0) {
    at -= 1;
    [sum, rest] = addExactly(sum, parts[at] ?? 0);
  }
  const below = parts[at - 1] ?? 0;
  if (rest === 0 || below === 0 || rest < 0 !== below < 0) return sum;
  const doubled = rest * 2;
  const pushed = sum + doubled;
  return pushed - sum === doubled ? pushed : sum;
}
