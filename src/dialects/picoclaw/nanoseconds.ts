/** Durations on the wire are integers of nanoseconds. */
export function toNanoseconds(ms: number): number {
  return Math.round(ms * 1_000_000);
}
