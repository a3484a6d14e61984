import type { CaseStats, EvalStats, Stats } from '../run/stats-record.ts';

// The cases of one row are asked the same in every variant, so that they are not independent: over all
// variants together no standard error and no interval is told.

/** The statistics of the cases of all variants. */
export function caseStatsOfAll(stats: CaseStats): CaseStats {
  return { ...withoutIntervals(stats), tags: mapValues(stats.tags, withoutIntervals) };
}

/** The statistics of the results of all variants, by eval. */
export function evalStatsOfAll(stats: Readonly<Record<string, EvalStats>>): Record<string, EvalStats> {
  return mapValues(stats, (each) => ({
    ...withoutIntervals(each),
    tags: mapValues(each.tags, withoutIntervals),
  }));
}

function withoutIntervals<Kind extends Stats>(stats: Kind): Kind {
  return { ...stats, pass_rate_ci95: null, stderr: null, ci95: null };
}

function mapValues<Value, Other>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Other,
): Record<string, Other> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
