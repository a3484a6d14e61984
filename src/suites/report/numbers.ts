import { formatNumber } from '../../base/json/decimal.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { Interval } from '../record.ts';

/** Two decimals; 0.00% and 100.00% only for exact values. */
export function formatPercent(share: number | null): string {
  if (share === null) return '–';
  const hundredths = Math.round(share * 10_000);
  const clamped = Math.min(Math.max(hundredths, share > 0 ? 1 : 0), share < 1 ? 9_999 : 10_000);
  return `${(clamped / 100).toFixed(2)}%`;
}

/** At most four decimals, or more if it would look like an exact 0 or 1. */
export function formatScore(score: number): string {
  return formatNumber(score, [0, 1]);
}

export function formatMean(mean: number | null): string {
  return mean === null ? '–' : mean.toFixed(3);
}

/** For example `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  if (hours === 0) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  return `${hours} h ${twoDigits(minutes % 60)} min`;
}

export function formatRate(count: number, ms: number): string {
  const rate = ms <= 0 ? 0 : (count / ms) * 1000;
  return rate < 10 ? rate.toFixed(1) : String(Math.round(rate));
}

/** `3 failures`, or `70 failures, the first 20` if only some are listed. */
export function formatListed(count: number, noun: string, listed: number): string {
  return listed < count ? `${formatCount(count, noun)}, the first ${listed}` : formatCount(count, noun);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** `+0.346 (0.317 to 0.375)`, or without the interval if it is null. */
export function formatDifference(difference: number, ci95: Interval | null): string {
  return `${signed(difference)}${ci95 === null ? '' : ` (${signed(ci95[0])} to ${signed(ci95[1])})`}`;
}

function signed(value: number): string {
  const text = value.toFixed(3).replace(/^-0\.000$/, '0.000');
  return value > 0 ? `+${text}` : text;
}

/** `p = 0.0312`, `p < 0.0001`. */
export function formatP(p: number): string {
  return p < 0.0001 ? 'p < 0.0001' : `p = ${p.toFixed(4)}`;
}

/** `0.0312`, `<0.0001`, or a dash for null. */
export function describeP(p: number | null): string {
  if (p === null) return '–';
  return p < 0.0001 ? '<0.0001' : p.toFixed(4);
}

/** `0.10–0.85`, or a dash for null. */
export function formatInterval(interval: Interval | null): string {
  return interval === null ? '–' : `${interval[0].toFixed(2)}–${interval[1].toFixed(2)}`;
}
