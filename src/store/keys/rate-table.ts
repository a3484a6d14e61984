import { numberOf, numberOrNull } from '../sqlite/row.ts';
import type { Preparing } from '../sqlite/statement.ts';

export type RateKind = 'requests' | 'tokens';

/** What keys asked for in the last minute, by the second. */
export interface RateTable {
  /** All that counts in the 60 seconds before the end of this one. */
  sumOf(key: string, kind: RateKind, second: number): number;
  /** The seconds that count, with their amounts, oldest first. */
  listOf(key: string, kind: RateKind, second: number): readonly RateSecond[];
  add(key: string, kind: RateKind, second: number, amount: number): void;
  /** Takes back what was added in that second, if it still counts. */
  takeBack(key: string, kind: RateKind, second: number, amount: number): void;
}

interface RateSecond {
  readonly second: number;
  readonly amount: number;
}

/**
 * The seconds that have a part in the 60 before now: one more than 60, so that at no moment more than the limit lies
 * within 60 seconds.
 */
export const WINDOW_SECONDS = 61;

/** The table `rates`. */
export function createRateTable({ prepare }: Preparing): RateTable {
  const ofKey = 'key = :key AND kind = :kind';
  const sum = prepare(
    `SELECT SUM(amount) AS amount, MAX(second) AS last FROM rates WHERE ${ofKey} AND second > :since`,
  );
  const list = prepare(`SELECT second, amount FROM rates WHERE ${ofKey} AND second > :since ORDER BY second`);
  const add = prepare(
    `INSERT INTO rates (key, kind, second, amount) VALUES (:key, :kind, :second, :amount)
    ON CONFLICT DO UPDATE SET amount = amount + excluded.amount RETURNING amount`,
  );
  const takeBack = prepare(
    `UPDATE rates SET amount = MAX(0, amount - :amount) WHERE ${ofKey} AND second = :second`,
  );
  const prune = prepare(`DELETE FROM rates WHERE ${ofKey} AND second <= :since`);
  const dropFuture = prepare(`DELETE FROM rates WHERE ${ofKey} AND second > :second RETURNING amount`);
  const put = (key: string, kind: RateKind, second: number, amount: number) => {
    const row = add.get({ key, kind, second, amount });
    const isNew = row !== undefined && numberOf(row, 'amount') === amount;
    if (isNew) prune.run({ key, kind, since: second - WINDOW_SECONDS });
  };
  return {
    sumOf: (key, kind, second) => {
      const row = sum.get({ key, kind, since: second - WINDOW_SECONDS }) ?? {};
      const last = numberOrNull(row, 'last');
      if (last === null) return 0;
      // The clock was set back: what is in the future now counts for one more minute, not until the clock gets there.
      if (last > second + SKEW_SECONDS) {
        const future = dropFuture.all({ key, kind, second });
        put(
          ...([key, kind, second] as const),
          future.reduce((total, each) => total + numberOf(each, 'amount'), 0),
        );
      }
      return numberOf(row, 'amount');
    },
    listOf: (key, kind, second) =>
      list.all({ key, kind, since: second - WINDOW_SECONDS }).map((row) => ({
        second: numberOf(row, 'second'),
        amount: numberOf(row, 'amount'),
      })),
    add: put,
    takeBack: (key, kind, second, amount) => void takeBack.run({ key, kind, second, amount }),
  };
}

/** By so much the clocks of two processes may seem to differ when one waits between reading it and writing. */
const SKEW_SECONDS = 10;
