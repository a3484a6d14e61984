import { members, number, type Shape, shapeOf } from '../../base/json/shape.ts';

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

/** Several as one, whose state has a member for each. */
export function combine<States extends object>(
  parts: {
    readonly [Name in keyof States]: Mergeable<States[Name]>;
  },
): Mergeable<{ readonly [Name in keyof States]: States[Name] }> {
  return {
    state() {
      const states: Partial<States> = {};
      for (const name in parts) states[name] = parts[name].state();
      return states as States;
    },
    merge(other) {
      for (const name in parts) parts[name].merge(other[name]);
    },
  };
}

type Counters<Name extends string> = Record<Name, number>;

/** Numbers that are added up under these names. */
export function newCounters<Name extends string>(
  names: readonly Name[],
): Mergeable<Readonly<Counters<Name>>> & { readonly counts: Counters<Name> } {
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Counters<Name>;
  return {
    counts,
    state: () => ({ ...counts }),
    merge(other) {
      for (const name of names) counts[name] += other[name];
    },
  };
}

export function countersShape<Name extends string>(names: readonly Name[]): Shape<Readonly<Counters<Name>>> {
  const shapes = Object.fromEntries(names.map((name) => [name, number]));
  return members(shapes) as Shape<Counters<Name>>;
}

/** How many fell into each of so many cells. */
export function newCells(size: number): Mergeable<readonly number[]> & { add(cell: number): void } {
  const cells = Array<number>(size).fill(0);
  const addTo = (cell: number, by: number) => {
    cells[cell] = (cells[cell] ?? 0) + by;
  };
  return {
    add: (cell) => addTo(cell, 1),
    state: () => [...cells],
    merge(other) {
      for (const [cell, count] of other.entries()) addTo(cell, count);
    },
  };
}

/** How often each of some numbers came, as one list: a number, its count, the next number, its count. */
export type Counts = readonly number[];

export const counts: Shape<Counts> = groupsOf(2);

/** The state of a `DecimalSum`. */
export type DecimalSumState = string;

export const decimalSumState: Shape<DecimalSumState> = shapeOf(
  (value): value is DecimalSumState => typeof value === 'string' && /^-?\d{1,2000}e-?\d{1,4}$/.test(value),
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
