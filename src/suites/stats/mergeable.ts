import { number, type Shape, shapeOf } from '../../base/json/shape.ts';

/**
 * What adds up cases, and can be carried from one process to another: whatever parts the cases were added in, and in
 * whatever order these are merged, it comes to the same.
 */
export interface Mergeable<State> {
  /** What has been added so far, as plain JSON of bounded size. */
  state(): State;
  /** Adds what another of its kind had added when its state was taken. */
  merge(other: State): void;
}

/** How often each of some numbers came, as one list: a number, its count, the next number, its count. */
export type Counts = readonly number[];

export const counts: Shape<Counts> = groupsOf(2);

/** Of a `DecimalSum`: a decimal as a text, or, as an earlier Signalbox had it, numbers that add up to it. */
export type DecimalSumState = string | readonly number[];

export const decimalSumState: Shape<DecimalSumState> = shapeOf(
  (value): value is DecimalSumState =>
    typeof value === 'string'
      ? /^-?\d{1,2000}e-?\d{1,4}$/.test(value)
      : groupsOf(1).misfit(value) === undefined,
  'a decimal',
);

/** A list of numbers whose length is a multiple of `size`. */
export function groupsOf(size: number): Shape<readonly number[]> {
  return shapeOf(
    (value): value is readonly number[] =>
      Array.isArray(value) &&
      value.length % size === 0 &&
      value.every((each) => number.misfit(each) === undefined),
    `a list of numbers, in groups of ${size}`,
  );
}

export function toCounts(map: ReadonlyMap<number, number>): Counts {
  return [...map].flat();
}

export function addCounts(map: Map<number, number>, added: Counts): void {
  for (let at = 0; at < added.length; at += 2) {
    const key = added[at] ?? 0;
    map.set(key, (map.get(key) ?? 0) + (added[at + 1] ?? 0));
  }
}

/** How many there are in all. */
export function sumCounts(all: Counts): number {
  let sum = 0;
  for (let at = 1; at < all.length; at += 2) sum += all[at] ?? 0;
  return sum;
}
