import { numberOf, numberOrNull, type Row, textOf } from '../sqlite/row.ts';
import type { Statement } from '../sqlite/statement.ts';
import { type KeyRecord, keyOfRow, type SecretRecord, secretOfRow } from './key-book.ts';

export type RateKind = 'requests' | 'tokens';

export interface CallUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
  readonly isEstimated: boolean;
}

export interface LeaseRow {
  /** The mark of the process; its lock shows whether the process lives. */
  readonly owner: string;
  readonly number: number;
  readonly key: string;
  /** When tokens were reserved, in seconds since 1970. */
  readonly second: number;
  readonly day: string;
  readonly isReserved: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
}

/** One more than 60, so that no 60 seconds ever exceed the limit. */
export const WINDOW_SECONDS = 61;
/** The difference between clocks of processes that is tolerated, because one may wait between reading and writing. */
const SKEW_SECONDS = 10;

/** The maximum sum: JavaScript can represent it exactly. */
export const MAX_AMOUNT = 8e15;

export type KeysTables = ReturnType<typeof openKeysTables>;

export function openKeysTables(prepare: (sql: string) => Statement) {
  const generation = prepare('SELECT number FROM generation');
  const alive = prepare('SELECT 1 FROM keys WHERE revoked_at IS NULL LIMIT 1');
  const byId = prepare('SELECT * FROM keys WHERE id = :id');
  const byPrefix = prepare('SELECT * FROM secrets WHERE prefix = :prefix');

  const periods = [':day', ':month', "'total'"].map(
    (period) => `(:key, ${period}, 1, :input, :output, :cost, :estimated)`,
  );
  const sums = ['input_tokens', 'output_tokens', 'cost'].map(
    (column) => `${column} = MIN(${MAX_AMOUNT}, ${column} + excluded.${column})`,
  );
  const addUsage = prepare(
    `INSERT INTO usage (key, period, calls, input_tokens, output_tokens, cost, estimated) VALUES ${periods.join(', ')}
    ON CONFLICT DO UPDATE SET calls = calls + 1, estimated = estimated + excluded.estimated, ${sums.join(', ')}`,
  );
  const cost = prepare('SELECT cost FROM usage WHERE key = :key AND period = :period');

  const ofKey = 'key = :key AND kind = :kind';
  const sumRates = prepare(
    `SELECT SUM(amount) AS amount, MAX(second) AS last FROM rates WHERE ${ofKey} AND second > :since`,
  );
  const listRates = prepare(
    `SELECT second, amount FROM rates WHERE ${ofKey} AND second > :since ORDER BY second`,
  );
  const putRate = prepare(
    `INSERT INTO rates (key, kind, second, amount) VALUES (:key, :kind, :second, :amount)
    ON CONFLICT DO UPDATE SET amount = amount + excluded.amount RETURNING amount`,
  );
  const takeBack = prepare(
    `UPDATE rates SET amount = MAX(0, amount - :amount) WHERE ${ofKey} AND second = :second`,
  );
  const prune = prepare(`DELETE FROM rates WHERE ${ofKey} AND second <= :since`);
  const dropFuture = prepare(`DELETE FROM rates WHERE ${ofKey} AND second > :second RETURNING amount`);
  const addRate = (key: string, kind: RateKind, second: number, amount: number) => {
    const row = putRate.get({ key, kind, second, amount });
    const isNew = row !== undefined && numberOf(row, 'amount') === amount;
    if (isNew) prune.run({ key, kind, since: second - WINDOW_SECONDS });
  };

  const putLease = prepare(
    `INSERT INTO leases (owner, number, key, second, day, is_reserved, input_tokens, output_tokens, cost)
    VALUES (:owner, :number, :key, :second, :day, :is_reserved, :input_tokens, :output_tokens, :cost)
    ON CONFLICT DO UPDATE SET second = excluded.second, day = excluded.day, is_reserved = excluded.is_reserved,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cost = excluded.cost`,
  );
  const takeLease = prepare('DELETE FROM leases WHERE owner = :owner AND number = :number RETURNING *');
  const takeAll = prepare('DELETE FROM leases WHERE owner = :owner RETURNING *');
  const held = prepare('SELECT calls, cost FROM held WHERE key = :key');
  const owners = prepare('SELECT DISTINCT owner FROM leases');

  return {
    keys: {
      /** Grows with each change of a key by any process. */
      generation: () => numberOf(generation.get() ?? {}, 'number'),
      hasAlive: () => alive.get() !== undefined,
      find: (id: string): KeyRecord | undefined => {
        const row = byId.get({ id });
        return row && keyOfRow(row);
      },
      secretsByPrefix: (prefix: string): SecretRecord[] => byPrefix.all({ prefix }).map(secretOfRow),
    },
    usage: {
      add: (key: string, day: string, usage: CallUsage): void => {
        const { inputTokens: input, outputTokens: output, cost: spent, isEstimated } = usage;
        const estimated = isEstimated ? 1 : 0;
        addUsage.run({ key, day, month: day.slice(0, 7), input, output, cost: spent, estimated });
      },
      /** In a period: `2026-11-22`, `2026-11` or `total`. */
      costOf: (key: string, period: string): number => {
        const row = cost.get({ key, period });
        return row === undefined ? 0 : numberOf(row, 'cost');
      },
    },
    rates: {
      /** The sum of the 60 seconds before the end of this second. */
      sumOf: (key: string, kind: RateKind, second: number): number => {
        const row = sumRates.get({ key, kind, since: second - WINDOW_SECONDS }) ?? {};
        const last = numberOrNull(row, 'last');
        if (last === null) return 0;
        // The clock was set back: amounts in the future count for one more minute.
        if (last > second + SKEW_SECONDS) {
          const future = dropFuture.all({ key, kind, second });
          const total = future.reduce((sum, each) => sum + numberOf(each, 'amount'), 0);
          addRate(key, kind, second, total);
        }
        return numberOf(row, 'amount');
      },
      listOf: (key: string, kind: RateKind, second: number) =>
        listRates.all({ key, kind, since: second - WINDOW_SECONDS }).map((row) => ({
          ...{ second: numberOf(row, 'second'), amount: numberOf(row, 'amount') },
        })),
      add: addRate,
      takeBack: (key: string, kind: RateKind, second: number, amount: number) =>
        void takeBack.run({ key, kind, second, amount }),
    },
    leases: {
      put: ({ isReserved, inputTokens, outputTokens, ...rest }: LeaseRow): void => {
        const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
        putLease.run({ ...rest, ...tokens, is_reserved: isReserved ? 1 : 0 });
      },
      take: (owner: string, number: number): LeaseRow | undefined => {
        const row = takeLease.get({ owner, number });
        return row && leaseOfRow(row);
      },
      takeAllOf: (owner: string): LeaseRow[] => takeAll.all({ owner }).map(leaseOfRow),
      heldBy: (key: string): { readonly calls: number; readonly cost: number } => {
        const row = held.get({ key }) ?? { calls: 0, cost: 0 };
        return { calls: numberOf(row, 'calls'), cost: numberOf(row, 'cost') };
      },
      owners: (): string[] => owners.all().map((row) => textOf(row, 'owner')),
    },
  };
}

function leaseOfRow(row: Row): LeaseRow {
  return {
    owner: textOf(row, 'owner'),
    number: numberOf(row, 'number'),
    key: textOf(row, 'key'),
    second: numberOf(row, 'second'),
    day: textOf(row, 'day'),
    isReserved: numberOf(row, 'is_reserved') === 1,
    inputTokens: numberOf(row, 'input_tokens'),
    outputTokens: numberOf(row, 'output_tokens'),
    cost: numberOf(row, 'cost'),
  };
}
