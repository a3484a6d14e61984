import { add, divide, type Exact, exact, newDecimalSum } from '../../base/json/decimal.ts';

/** The mean of at least one number: the same in any order. */
export function meanOf(numbers: readonly number[]): Exact {
  const sum = newDecimalSum();
  for (const number of numbers) sum.add(number);
  return divide(sum.exact(), exact(numbers.length));
}

/** The median of at least one number: of an even count the mean of the two in the middle. */
export function medianOf(numbers: readonly number[]): Exact {
  const sorted = numbers.toSorted((a, b) => a - b);
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return midpoint(lower, upper);
}

/** The commonest of at least one number; of several the lowest. */
export function modeOf(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return Math.min(...[...counts].flatMap(([number, count]) => (count === most ? [number] : [])));
}

/** Half-way between two numbers. */
export function midpoint(one: number, other: number): Exact {
  return divide(add(exact(one), exact(other)), exact(2));
}
