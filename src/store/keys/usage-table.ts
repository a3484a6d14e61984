import { numberOf, type Row, textOf } from '../sqlite/row.ts';
import type { Preparing } from '../sqlite/statement.ts';
import type { UsageRecord } from './key.ts';

/** What one call has used. */
export interface CallUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar. */
  readonly cost: number;
  /** Whether nobody told what was used. */
  readonly isEstimated: boolean;
}

/** What keys have used, by day, by month and in all. */
export interface UsageTable {
  /** Counts one call on that day (`2026-11-22`). */
  add(key: string, day: string, usage: CallUsage): void;
  /** The money spent in a period: `2026-11-22`, `2026-11` or `total`. */
  costOf(key: string, period: string): number;
  find(key: string, period: string): UsageRecord;
}

/** The table `usage`. */
export function createUsageTable({ prepare }: Preparing): UsageTable {
  const values = [':day', ':month', "'total'"]
    .map((period) => `(:key, ${period}, 1, :input, :output, :cost, :estimated)`)
    .join(', ');
  // The sum stays a number that JavaScript can read, however long the key lives.
  const add = prepare(
    `INSERT INTO usage (key, period, calls, input_tokens, output_tokens, cost, estimated) VALUES ${values}
    ON CONFLICT DO UPDATE SET calls = calls + 1, estimated = estimated + excluded.estimated,
      ${sumOf('input_tokens')}, ${sumOf('output_tokens')}, ${sumOf('cost')}`,
  );
  const cost = prepare('SELECT cost FROM usage WHERE key = :key AND period = :period');
  const one = prepare('SELECT * FROM usage WHERE key = :key AND period = :period');
  return {
    add: (key, day, { inputTokens, outputTokens, cost: spent, isEstimated }) =>
      void add.run({
        ...{ key, day, month: day.slice(0, 7), input: inputTokens, output: outputTokens, cost: spent },
        estimated: isEstimated ? 1 : 0,
      }),
    costOf: (key, period) => {
      const row = cost.get({ key, period });
      return row === undefined ? 0 : numberOf(row, 'cost');
    },
    find: (key, period) => {
      const row = one.get({ key, period });
      return row === undefined ? { period, ...noUsage } : usageOfRow(row);
    },
  };
}

/** The largest sum that is kept. */
export const MAX_AMOUNT = 8e15;

function sumOf(column: string): string {
  return `${column} = MIN(${MAX_AMOUNT}, ${column} + excluded.${column})`;
}

/** Of a period in which nothing was used. */
export const noUsage = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0, estimated: 0 };

/** Throws Damaged. */
export function usageOfRow(row: Row): UsageRecord {
  return {
    period: textOf(row, 'period'),
    calls: numberOf(row, 'calls'),
    inputTokens: numberOf(row, 'input_tokens'),
    outputTokens: numberOf(row, 'output_tokens'),
    cost: numberOf(row, 'cost'),
    estimated: numberOf(row, 'estimated'),
  };
}
