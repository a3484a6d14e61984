import type { Data, Entry, Outcome } from '../data.ts';
import type { Status, View } from './view.ts';
import { statuses } from './view.ts';

/** The cases that a view shows, its search aside, in its order. */
export function filterEntries(data: Data, view: View): Entry[] {
  const judge = judgeOf(data, view);
  const kept = data.entries.filter((entry) => {
    const outcome = judge(entry);
    return outcome !== undefined && isOf(view.status, outcome) && fits(entry, outcome, view);
  });
  return sortEntries(kept, judge, view);
}

/** How many cases each status would show. */
export function countStatuses(data: Data, view: View): Map<Status, number> {
  const judge = judgeOf(data, view);
  const counts: Map<Status, number> = new Map();
  for (const entry of data.entries) {
    const outcome = judge(entry);
    if (outcome === undefined || !fits(entry, outcome, view)) continue;
    for (const status of statuses)
      if (isOf(status, outcome)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

/** What counts of a case: what the chosen eval said, or the case as a whole; undefined where the eval did not judge. */
export function judgeOf(
  { header }: Data,
  view: View,
): (entry: Entry) => (Outcome & { readonly unscored: boolean }) | undefined {
  if (view.eval === '') return (entry) => ({ ...wholeOf(entry), unscored: hasUnscored(entry) });
  const place = header.evals.findIndex(({ id }) => id === view.eval);
  return (entry) => {
    const outcome = entry.results.get(place);
    return outcome === undefined ? undefined : { ...outcome, unscored: outcome.score === null };
  };
}

function wholeOf({ score, passed, flaky }: Entry): Outcome {
  return { score, passed, flaky };
}

/** Whether an eval could not score the case. */
export function hasUnscored({ results }: Entry) {
  for (const { score } of results.values()) if (score === null) return true;
  return false;
}

function isOf(status: Status, { passed, flaky, unscored }: Outcome & { readonly unscored: boolean }) {
  switch (status) {
    case 'all':
      return true;
    case 'failed':
      return !passed;
    case 'passed':
      return passed;
    case 'unscored':
      return unscored;
    case 'flaky':
      return flaky;
  }
}

function fits({ tags }: Entry, { score }: Outcome, { tag, min, max }: View) {
  if (tag !== '' && !tags.includes(tag)) return false;
  if (min !== null && (score === null || score < min)) return false;
  return max === null || (score !== null && score <= max);
}

function sortEntries(entries: Entry[], judge: (entry: Entry) => Outcome | undefined, { order }: View) {
  if (order === 'number') return entries;
  if (order === 'id') return entries.sort((a, b) => natural.compare(a.id, b.id));
  const sign = order === 'lowest' ? 1 : -1;
  // What has no score stands last in both orders.
  const keyOf = (entry: Entry) => {
    const score = judge(entry)?.score ?? null;
    return score === null ? Number.POSITIVE_INFINITY : sign * score;
  };
  const keys = new Map(entries.map((entry) => [entry, keyOf(entry)]));
  return entries.sort((a, b) => compareKeys(keys.get(a) ?? 0, keys.get(b) ?? 0));
}

const natural = new Intl.Collator('en', { numeric: true });

function compareKeys(a: number, b: number) {
  return a === b ? 0 : a < b ? -1 : 1;
}
