import type { Data, Entry, Outcome } from '../data.ts';
import { isDifferent } from '../matrix/group.ts';
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
export function judgeOf({ header }: Data, view: View): (entry: Entry) => Judged | undefined {
  if (view.eval === '')
    return (entry) => ({
      ...wholeOf(entry),
      unscored: hasUnscored(entry),
      differs: isDifferent(entry, -1),
    });
  const place = header.evals.findIndex(({ id }) => id === view.eval);
  return (entry) => {
    const outcome = entry.results.get(place);
    if (outcome === undefined) return undefined;
    return { ...outcome, unscored: outcome.score === null, differs: isDifferent(entry, place) };
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

/** What counts of a case or, of a matrix, of a row. */
type Judged = Outcome & { readonly unscored: boolean; readonly differs: boolean };

function isOf(status: Status, { passed, flaky, unscored, differs }: Judged) {
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
    case 'differs':
      return differs;
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
