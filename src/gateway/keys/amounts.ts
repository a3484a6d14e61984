import { exact } from '../../base/json/decimal.ts';
import { type CallUsage, type KeysTables, type LeaseRow, MAX_AMOUNT } from '../../store/keys/count-tables.ts';
import type { KeyRecord } from '../../store/keys/key-book.ts';
import type { Estimate, Used } from '../ports.ts';

export type Reservation = Pick<
  LeaseRow,
  'second' | 'day' | 'isReserved' | 'inputTokens' | 'outputTokens' | 'cost'
>;

export function reservationOf({ inputTokens, outputTokens, cost }: Estimate, at: number): Reservation {
  return {
    ...{ second: Math.floor(at / 1000), day: dayOf(at), isReserved: true },
    inputTokens: amountOf(inputTokens),
    outputTokens: amountOf(outputTokens),
    cost: cost === null ? 0 : amountOf(nanosOf(cost)),
  };
}

export interface EndedCall {
  readonly key: KeyRecord;
  readonly reservation: Reservation;
  readonly used: Used | undefined;
  readonly at: number;
}

/** Replaces a call's reservation with its actual usage. Run it in the transaction that removes the lease. */
export function settle({ usage, rates }: KeysTables, { key, reservation, used, at }: EndedCall): void {
  const spent = used && usageOf(used, reservation);
  if (spent !== undefined) usage.add(key.id, reservation.day, spent);
  if (key.limits.tokensPerMinute === null) return;
  const before = reservation.inputTokens + reservation.outputTokens;
  const more = (spent === undefined ? 0 : spent.inputTokens + spent.outputTokens) - before;
  // Unused tokens return to the second of the reservation; extra tokens count now.
  if (more < 0) rates.takeBack(key.id, 'tokens', reservation.second, -more);
  if (more > 0) rates.add(key.id, 'tokens', Math.floor(at / 1000), more);
}

function usageOf(used: Used, reservation: Reservation): CallUsage {
  const { inputTokens, outputTokens, cost } = amountsOf(used);
  return {
    inputTokens: inputTokens ?? reservation.inputTokens,
    outputTokens: outputTokens ?? reservation.outputTokens,
    cost: cost ?? reservation.cost,
    isEstimated: inputTokens === null,
  };
}

/** Converts usage to whole tokens and billionths of a US dollar; null if not reported. */
export function amountsOf({ usage, cost }: Used) {
  const { input, output } = usage ?? {};
  const isKnown = isAmount(input) && isAmount(output);
  return {
    inputTokens: isKnown ? amountOf(input) : null,
    outputTokens: isKnown ? amountOf(output) : null,
    cost: isAmount(cost) ? amountOf(nanosOf(cost)) : null,
  };
}

function isAmount(value: number | null | undefined): value is number {
  return typeof value === 'number' && value >= 0;
}

/** Limits to integers that the database can add. */
function amountOf(value: number): number {
  return Math.min(MAX_AMOUNT, Math.ceil(value));
}

/** Ends the calls of dead processes. Their reservations count, because the upstreams may have answered. */
export function settleDead({ usage, leases }: KeysTables, liveOwners: ReadonlySet<string>): void {
  for (const owner of leases.owners()) {
    if (liveOwners.has(owner)) continue;
    for (const { key, day, isReserved, inputTokens, outputTokens, cost } of leases.takeAllOf(owner)) {
      if (isReserved) usage.add(key, day, { inputTokens, outputTokens, cost, isEstimated: true });
    }
  }
}

/** Converts to billionths of a US dollar, rounded up. */
export function nanosOf(dollars: number): number {
  const { over, exponent } = exact(dollars);
  const power = 10n ** BigInt(Math.abs(exponent + NANO_DIGITS));
  if (exponent >= -NANO_DIGITS) return Number(over * power);
  return Number(over / power + (over > 0n && over % power > 0n ? 1n : 0n));
}

export function dollarsOf(nanos: number): number {
  return nanos / NANOS_PER_DOLLAR;
}

const NANO_DIGITS = 9;
const NANOS_PER_DOLLAR = 10 ** NANO_DIGITS;

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export type BudgetPeriod = 'day' | 'month' | 'total';

export function periodName(period: BudgetPeriod, day: string): string {
  if (period === 'total') return 'total';
  return period === 'day' ? day : day.slice(0, 7);
}

/** Undefined for a period without an end. */
export function secondsLeft(period: BudgetPeriod, at: number): number | undefined {
  if (period === 'total') return undefined;
  const date = new Date(at);
  const end =
    period === 'day'
      ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
      : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return Math.ceil((end - at) / 1000);
}
