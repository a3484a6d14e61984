import type { Interval } from '../record.ts';

/** Standard deviations on either side that hold 95 % of a normal distribution. */
const z95 = 1.959963984540054;

/** The 95 % interval of a share (Wilson, 1927): of use for few cases and for shares near 0 and 1, too. */
export function wilsonInterval(passed: number, count: number): Interval | null {
  if (count === 0) return null;
  const share = passed / count;
  const square = z95 ** 2;
  const spread = 1 + square / count;
  const centre = (share + square / (2 * count)) / spread;
  const half = (z95 / spread) * Math.sqrt((share * (1 - share)) / count + square / (4 * count ** 2));
  return [passed === 0 ? 0 : centre - half, passed === count ? 1 : centre + half];
}

/** The 95 % interval of a mean of scores, which lie in 0..1. */
export function meanInterval(mean: number | null, stderr: number | null): Interval | null {
  if (mean === null || stderr === null) return null;
  return [Math.max(0, mean - z95 * stderr), Math.min(1, mean + z95 * stderr)];
}
