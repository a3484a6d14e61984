import { exact } from '../../base/json/decimal.ts';

/** Billionths of a US dollar, the whole number that money is counted in; rounded up. */
export function nanosOf(dollars: number): number {
  const { over, exponent } = exact(dollars);
  const power = 10n ** BigInt(Math.abs(exponent + NANO_DIGITS));
  if (exponent >= -NANO_DIGITS) return Number(over * power);
  return Number(over / power + (over > 0n && over % power > 0n ? 1n : 0n));
}

/** US dollars of billionths. */
export function dollarsOf(nanos: number): number {
  return nanos / NANOS_PER_DOLLAR;
}

const NANO_DIGITS = 9;
const NANOS_PER_DOLLAR = 10 ** NANO_DIGITS;
