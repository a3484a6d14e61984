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
 * the order of B, then for the cases that only A has. A is held in memory, a few numbers for each case.
 */
export async function pairCases(
  a: Side,
  b: Side,
  rows: readonly ComparisonRow[],
  onPair: OnPair,
): Promise<void> {
  const readA = outcomeReader(a);
  const unpaired = new Map<string, PairSide[]>();
  for await (const record of casesOf(a)) {
    const side = { number: record.number, outcomes: rows.map((row) => readA(record, row.a)) };
    const queue = unpaired.get(record.id);
    if (queue === undefined) unpaired.set(record.id, [side]);
    else queue.push(side);
  }
  const readB = outcomeReader(b);
  const taken = new Map<string, number>();
  for await (const record of casesOf(b)) {
    const queue = unpaired.get(record.id) ?? [];
    const next = taken.get(record.id) ?? 0;
    if (next < queue.length) taken.set(record.id, next + 1);
    const side = { number: record.number, outcomes: rows.map((row) => readB(record, row.b)) };
    onPair({ a: queue[next], b: side }, record);
  }
  for (const [id, queue] of unpaired) {
    for (const side of queue.slice(taken.get(id) ?? 0)) onPair({ a: side, b: undefined });
  }
}
