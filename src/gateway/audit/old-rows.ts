import { numberOf, type Row, textOf } from '../../store/sqlite/row.ts';
import { noHash } from './chain.ts';
import type { Tip } from './head.ts';

/** The first rows of a chain that are to be removed. */
export interface OldRows {
  /** The last one of them, and its hash. */
  readonly through: number;
  readonly hash: string;
  /** 0: there are none. */
  readonly removed: number;
  /** Whether there may be more. */
  readonly isPartial: boolean;
}

/**
 * The first rows, up to a call that is older. What is no call goes with the calls behind it, and so does one of a time to
 * come, which a wrong clock has written. `oldest`: `seq`, `hash`, `kind` and `at` of the first `MOST_PRUNED` rows.
 */
export function findOld(oldest: Iterable<Row>, tip: Tip, before: number): OldRows {
  let old: OldRows = { through: 0, hash: noHash, removed: 0, isPartial: false };
  const now = Date.now();
  let count = 0;
  for (const row of oldest) {
    const seq = numberOf(row, 'seq');
    const at = numberOf(row, 'at');
    const isPassedOver = textOf(row, 'kind') !== 'call' || at > now;
    // The last row stays, so that there is one to go on from.
    if (seq === tip.seq || (!isPassedOver && at >= before)) break;
    count += 1;
    if (isPassedOver) continue;
    old = { through: seq, hash: textOf(row, 'hash'), removed: count, isPartial: count === MOST_PRUNED };
  }
  return old;
}

/** Rows that one transaction removes, so that calls need not wait long for it. */
export const MOST_PRUNED = 10_000;
