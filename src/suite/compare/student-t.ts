import { bisect, gammaln } from 'simple-statistics';

/** The two-sided p-value of a t statistic. */
export function studentPValue(t: number, freedom: number): number {
  if (!Number.isFinite(t)) return 0;
  return incompleteBeta(freedom / (freedom + t ** 2), freedom / 2, 0.5);
}

/** The t that 95 % of a Student distribution do not exceed in size. */
export function studentQuantile95(freedom: number): number {
  return bisect((t) => studentPValue(t, freedom) - 0.05, 1.9, 13, 200, 1e-12);
}

/**
 * The regularised incomplete beta function, by its continued fraction
 * (https://dlmf.nist.gov/8.17#SS5), on the side where that converges fast.
 */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFront = a * Math.log(x) + b * Math.log1p(-x) + gammaln(a + b) - gammaln(a) - gammaln(b);
  return Math.exp(logFront) / (a * betaFraction(x, a, b));
}

/** 1 + d1/(1 + d2/(1 + …)), evaluated from a depth at which more terms change nothing. */
function betaFraction(x: number, a: number, b: number): number {
  let value = 1;
  for (let depth = 400; depth >= 1; depth--) {
    const m = Math.floor(depth / 2);
    const term =
      depth % 2 === 0
        ? (m * (b - m)) / ((a + 2 * m - 1) * (a + 2 * m))
        : -((a + m) * (a + b + m)) / ((a + 2 * m) * (a + 2 * m + 1));
    value = 1 + (term * x) / value;
  }
  return value;
}
