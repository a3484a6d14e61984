/** @import { Stats, Interval } from '../../../run/record.ts' */
/** @import { Threshold } from '../../../../contract/eval.ts' */

/**
 * A share as a percentage; 0 and 100 are only said of what is exactly so.
 * @param {number | null} share
 */
export function percent(share) {
  if (share === null) return '–';
  const tenths = Math.round(share * 1000);
  const honest = Math.min(Math.max(tenths, share > 0 ? 1 : 0), share < 1 ? 999 : 1000);
  return `${(honest / 10).toFixed(honest % 1000 === 0 ? 0 : 1)} %`;
}

/**
 * A score with at most four decimals.
 * @param {number | null} score
 */
export function score(score) {
  return score === null ? '–' : String(Math.round(score * 10_000) / 10_000);
}

/**
 * A score for a column of scores, where all have two decimals.
 * @param {number | null} score
 */
export function shortScore(score) {
  if (score === null) return '–';
  const text = score.toFixed(2);
  // What misses a whole must not look like it.
  if (score < 1 && text === '1.00') return '0.99';
  return score > 0 && text === '0.00' ? '0.01' : text;
}

/** @param {number | null} value */
export function mean(value) {
  return value === null ? '–' : value.toFixed(3);
}

/** @param {number} count */
export function count(count) {
  return grouped.format(count);
}

const grouped = new Intl.NumberFormat('en');

/**
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

/** @param {Interval | null} interval */
export function percentInterval(interval) {
  if (interval === null) return null;
  return `${percent(interval[0])} – ${percent(interval[1])}`;
}

/**
 * `0.812 ± 0.021`, the standard error behind the mean.
 * @param {Stats} stats
 */
export function meanWithError({ mean: value, stderr }) {
  return stderr === null ? mean(value) : `${mean(value)} ± ${mean(stderr)}`;
}

/** @param {Threshold} threshold */
export function bounds({ min_score: min, max_score: max }) {
  if (min === undefined && max === undefined) return '≥ 1';
  return boundsOf(min ?? null, max ?? null);
}

/**
 * @param {number | null} min
 * @param {number | null} max
 */
export function boundsOf(min, max) {
  const parts = [min === null ? [] : [`≥ ${min}`], max === null ? [] : [`≤ ${max}`]].flat();
  return parts.join(' and ');
}

/** @param {string} iso */
export function instant(iso) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
