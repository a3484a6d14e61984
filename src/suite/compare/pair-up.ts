import type { CaseRecord } from '../run/record.ts';
import { casesOf, type Outcome, outcomeReader, type Side, type Subject } from './side.ts';

/** What the two sides of a case are compared under. */
export interface Row {
  readonly a: Subject;
  readonly b: Subject;
}

/** One side of a case, by row; undefined where an eval did not judge it. */
export interface Half {
  /** The number of the case in its run. */
  readonly number: number;
  readonly outcomes: readonly (Outcome | undefined)[];
}

export type Meet = (
  halves: { readonly a: Half | undefined; readonly b: Half | undefined },
  b?: CaseRecord,
) => void;

/**
 * Brings the cases of both sides together by their ids, the first of an id with the first, and tells of each pair
 * in the order of B, then of what B does not have. A is held in memory, a few numbers for each case.
 */
export async function pairUp(a: Side, b: Side, rows: readonly Row[], meet: Meet): Promise<void> {
  const readA = outcomeReader(a);
  const waiting = new Map<string, Half[]>();
  for await (const record of casesOf(a)) {
    const half = { number: record.number, outcomes: rows.map((row) => readA(record, row.a)) };
    const queue = waiting.get(record.id);
    if (queue === undefined) waiting.set(record.id, [half]);
    else queue.push(half);
  }
  const readB = outcomeReader(b);
  const taken = new Map<string, number>();
  for await (const record of casesOf(b)) {
    const queue = waiting.get(record.id) ?? [];
    const next = taken.get(record.id) ?? 0;
    if (next < queue.length) taken.set(record.id, next + 1);
    const half = { number: record.number, outcomes: rows.map((row) => readB(record, row.b)) };
    meet({ a: queue[next], b: half }, record);
  }
  for (const [id, queue] of waiting) {
    for (const half of queue.slice(taken.get(id) ?? 0)) meet({ a: half, b: undefined });
  }
}
