/** The day of a moment in UTC, such as `2026-11-22`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** A stretch of time that a budget is for. */
export type BudgetPeriod = 'day' | 'month' | 'total';

/** The name under which usage of a day is counted for that period. */
export function periodName(period: BudgetPeriod, day: string): string {
  if (period === 'total') return 'total';
  return period === 'day' ? day : day.slice(0, 7);
}

/** Seconds from a moment to the end of its period; undefined for one without an end. */
export function secondsLeft(period: BudgetPeriod, at: number): number | undefined {
  if (period === 'total') return undefined;
  const date = new Date(at);
  const end =
    period === 'day'
      ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
      : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return Math.ceil((end - at) / 1000);
}
