import type { CaseRecord } from '../run/record.ts';
import { casesOf, outcomeReader, type ResultKey, type Side, type SideOutcome } from './side.ts';

/** What is compared: the same eval on both sides, two evals, or (both undefined) whole cases. */
export interface ComparisonRow {
  readonly a: ResultKey;
  readonly b: ResultKey;
}

/** The outcomes of a case on one side, by row; undefined where an eval did not judge it. */
interface PairSide {
  /** The number of the case in its run. */
  readonly number: number;
  readonly outcomes: readonly (SideOutcome | undefined)[];
}

export type OnPair = (
  halves: { readonly a: PairSide | undefined; readonly b: PairSide | undefined },
  b?: CaseRecord,
) => void;

/**
 * Pairs the cases of both sides by id, the first of an id with the first, and calls `onPair` for each in
 * the order of B, then for the cases that only A has. Both are read at once: held in memory, with a few numbers
 * each, are only cases of A that come before the one that B is at, so none where both have the same order.
 */
export async function pairCases(
  a: Side,
  b: Side,
  rows: readonly ComparisonRow[],
  onPair: OnPair,
): Promise<void> {
  const [readA, readB] = [outcomeReader(a.source.header), outcomeReader(b.source.header)];
  const toSideOfA = (record: CaseRecord): PairSide => {
    return { number: record.number, outcomes: rows.map((row) => readA(record, row.a)) };
  };
  const passedBy = newQueues();
  const ofA = casesOf(a);
  const findInA = async (id: string): Promise<PairSide | undefined> => {
    const known = passedBy.take(id);
    if (known !== undefined) return known;
    for (;;) {
      const { done, value: record } = await ofA.next();
      if (done) return undefined;
      if (record.id === id) return toSideOfA(record);
      passedBy.add(record.id, toSideOfA(record));
    }
  };
  try {
    for await (const record of casesOf(b)) {
      const side = { number: record.number, outcomes: rows.map((row) => readB(record, row.b)) };
      onPair({ a: await findInA(record.id), b: side }, record);
    }
    for (const side of passedBy.rest()) onPair({ a: side, b: undefined });
    for await (const record of ofA) onPair({ a: toSideOfA(record), b: undefined });
  } finally {
    await ofA.return(undefined);
  }
}

interface Queues {
  add(id: string, side: PairSide): void;
  /** The first of that id that was not taken. */
  take(id: string): PairSide | undefined;
  rest(): Iterable<PairSide>;
}

function newQueues(): Queues {
  const byId = new Map<string, { readonly sides: PairSide[]; taken: number }>();
  return {
    add(id, side) {
      const queue = byId.get(id);
      if (queue === undefined) byId.set(id, { sides: [side], taken: 0 });
      else queue.sides.push(side);
    },
    take(id) {
      const queue = byId.get(id);
      if (queue === undefined) return undefined;
      const side = queue.sides[queue.taken];
      queue.taken += 1;
      if (queue.taken === queue.sides.length) byId.delete(id);
      return side;
    },
    *rest() {
      for (const { sides, taken } of byId.values()) yield* sides.slice(taken);
    },
  };
}
