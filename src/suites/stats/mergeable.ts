import { members, number, type Shape, shapeOf } from '../../base/json/shape.ts';

/**
 * Adds up cases and can be transferred between processes. The result depends neither on the split nor on the merge
 * order.
 */
export interface Mergeable<State> {
  state(): State;
  merge(other: State): void;
}

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

/** Occurrences of numbers as a flat list: number, count, number, count. */
export type Counts = readonly number[];

export const counts: Shape<Counts> = groupsOf(2);

export type DecimalSumState = string;

export const decimalSumState: Shape<DecimalSumState> = shapeOf(
  (value): value is DecimalSumState => typeof value === 'string' && /^-?\d{1,2000}e-?\d{1,4}$/.test(value),
  'a decimal',
);

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

export function sumCounts(all: Counts): number {
  let sum = 0;
  for (let at = 1; at < all.length; at += 2) sum += all[at] ?? 0;
  return sum;
}
