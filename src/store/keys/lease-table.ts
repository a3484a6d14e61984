import { numberOf, type Row, textOf } from '../sqlite/row.ts';
import type { Preparing } from '../sqlite/statement.ts';

/** A call that is under way. */
export interface LeaseRow {
  /** The process's own mark, whose lock tells whether it lives. */
  readonly owner: string;
  /** Unique among those of its owner. */
  readonly number: number;
  readonly key: string;
  /** When tokens were set aside, in seconds since 1970. */
  readonly second: number;
  /** The day that it is counted on. */
  readonly day: string;
  /** Whether tokens and money were set aside. */
  readonly isReserved: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
}

/** The calls that are under way, of all processes. */
export interface LeaseTable {
  /** Inserts it, or what was set aside for one that is there. */
  put(lease: LeaseRow): void;
  /** Removes it; undefined when it is not there. */
  take(owner: string, number: number): LeaseRow | undefined;
  /** How many calls of the key are under way, and the money set aside for them. */
  heldBy(key: string): { readonly calls: number; readonly cost: number };
  owners(): string[];
  takeAllOf(owner: string): LeaseRow[];
}

/** The tables `leases` and `held`. */
export function createLeaseTable({ prepare }: Preparing): LeaseTable {
  const put = prepare(
    `INSERT INTO leases (owner, number, key, second, day, is_reserved, input_tokens, output_tokens, cost)
    VALUES (:owner, :number, :key, :second, :day, :is_reserved, :input_tokens, :output_tokens, :cost)
    ON CONFLICT DO UPDATE SET second = excluded.second, day = excluded.day, is_reserved = excluded.is_reserved,
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cost = excluded.cost`,
  );
  const take = prepare('DELETE FROM leases WHERE owner = :owner AND number = :number RETURNING *');
  const held = prepare('SELECT calls, cost FROM held WHERE key = :key');
  const owners = prepare('SELECT DISTINCT owner FROM leases');
  const takeAll = prepare('DELETE FROM leases WHERE owner = :owner RETURNING *');
  return {
    put: (lease) => void put.run(rowOf(lease)),
    take: (owner, number) => {
      const row = take.get({ owner, number });
      return row && leaseOfRow(row);
    },
    heldBy: (key) => {
      const row = held.get({ key });
      return row === undefined
        ? { calls: 0, cost: 0 }
        : { calls: numberOf(row, 'calls'), cost: numberOf(row, 'cost') };
    },
    owners: () => owners.all().map((row) => textOf(row, 'owner')),
    takeAllOf: (owner) => takeAll.all({ owner }).map(leaseOfRow),
  };
}

function rowOf({ isReserved, inputTokens, outputTokens, ...rest }: LeaseRow) {
  return {
    ...rest,
    is_reserved: isReserved ? 1 : 0,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
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
