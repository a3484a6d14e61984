/** Billionths of a US dollar, the whole number that money is counted in; rounded up. */
export function nanosOf(dollars: number): number {
  // Past this a price that is one too large by the last bit of a float would be rounded up by a whole billionth.
  return Math.ceil(dollars * NANOS_PER_DOLLAR - 1e-6);
}

/** US dollars of billionths. */
export function dollarsOf(nanos: number): number {
  return nanos / NANOS_PER_DOLLAR;
}

const NANOS_PER_DOLLAR = 1e9;
