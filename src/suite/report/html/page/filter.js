import { statuses } from './view.js';

/** @import { Data, Entry, Outcome } from './data.js' */
/** @import { Status, View } from './view.js' */

/**
 * The cases that a view shows, its search aside, in its order.
 * @param {Data} data
 * @param {View} view
 * @returns {Entry[]}
 */
export function filterEntries(data, view) {
  const judge = judgeOf(data, view);
  const kept = data.entries.filter((entry) => {
    const outcome = judge(entry);
    return outcome !== undefined && isOf(view.status, outcome) && fits(entry, outcome, view);
  });
  return sortEntries(kept, judge, view);
}

/**
 * How many cases each status would show.
 * @param {Data} data
 * @param {View} view
 * @returns {Map<Status, number>}
 */
export function countStatuses(data, view) {
  const judge = judgeOf(data, view);
  /** @type {Map<Status, number>} */
  const counts = new Map();
  for (const entry of data.entries) {
    const outcome = judge(entry);
    if (outcome === undefined || !fits(entry, outcome, view)) continue;
    for (const status of statuses)
      if (isOf(status, outcome)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

/**
 * What counts of a case: what the chosen eval said, or the case as a whole; undefined where the eval did not judge.
 * @param {Data} data
 * @param {View} view
 * @returns {(entry: Entry) => (Outcome & { readonly unscored: boolean }) | undefined}
 */
export function judgeOf({ header }, view) {
  if (view.eval === '') return (entry) => ({ ...wholeOf(entry), unscored: hasUnscored(entry) });
  const place = header.evals.findIndex(({ id }) => id === view.eval);
  return (entry) => {
    const outcome = entry.results.get(place);
    return outcome === undefined ? undefined : { ...outcome, unscored: outcome.score === null };
  };
}

/**
 * @param {Entry} entry
 * @returns {Outcome}
 */
function wholeOf({ score, passed, flaky }) {
  return { score, passed, flaky };
}

/**
 * Whether an eval could not score the case.
 * @param {Entry} entry
 */
export function hasUnscored({ results }) {
  for (const { score } of results.values()) if (score === null) return true;
  return false;
}

/**
 * @param {Status} status
 * @param {Outcome & { readonly unscored: boolean }} outcome
 */
function isOf(status, { passed, flaky, unscored }) {
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

/**
 * @param {Entry} entry
 * @param {Outcome} outcome
 * @param {View} view
 */
function fits({ tags }, { score }, { tag, min, max }) {
  if (tag !== '' && !tags.includes(tag)) return false;
  if (min !== null && (score === null || score < min)) return false;
  return max === null || (score !== null && score <= max);
}

/**
 * @param {Entry[]} entries
 * @param {(entry: Entry) => Outcome | undefined} judge
 * @param {View} view
 */
function sortEntries(entries, judge, { order }) {
  if (order === 'number') return entries;
  if (order === 'id') return entries.sort((a, b) => natural.compare(a.id, b.id));
  const sign = order === 'lowest' ? 1 : -1;
  // What has no score stands last in both orders.
  const keyOf = (/** @type {Entry} */ entry) => {
    const score = judge(entry)?.score ?? null;
    return score === null ? Number.POSITIVE_INFINITY : sign * score;
  };
  const keys = new Map(entries.map((entry) => [entry, keyOf(entry)]));
  return entries.sort((a, b) => compareKeys(keys.get(a) ?? 0, keys.get(b) ?? 0));
}

const natural = new Intl.Collator('en', { numeric: true });

/**
 * @param {number} a
 * @param {number} b
 */
function compareKeys(a, b) {
  return a === b ? 0 : a < b ? -1 : 1;
}
