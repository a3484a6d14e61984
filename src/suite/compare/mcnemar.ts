import { gammaln } from 'simple-statistics';

/**
 * The exact two-sided p-value of McNemar's test: how likely so uneven a split of the pairs whose verdict changed is
 * when both ways are equally likely. 1 when none changed.
 */
export function mcNemarPValue(oneWay: number, otherWay: number): number {
  const changed = oneWay + otherWay;
  const fewer = Math.min(oneWay, otherWay);
  if (oneWay === otherWay) return 1;
  return Math.min(1, 2 * binomialTail(fewer, changed));
}

/** The chance of at most so many heads in n throws of a fair coin, summed from its largest term down. */
function binomialTail(heads: number, n: number): number {
  const logTerm = gammaln(n + 1) - gammaln(heads + 1) - gammaln(n - heads + 1) - n * Math.LN2;
  let ratio = 1;
  let sum = 1;
  for (let i = heads; i > 0 && ratio > Number.EPSILON * 2 ** -8; i--) {
    ratio *= i / (n - i + 1);
    sum += ratio;
  }
  return Math.exp(logTerm + Math.log(sum));
}
