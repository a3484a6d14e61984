/** Shows 0 and 100 only for exact values. */
export function percent(share: number | null) {
  if (share === null) return '–';
  const tenths = Math.round(share * 1000);
  const honest = Math.min(Math.max(tenths, share > 0 ? 1 : 0), share < 1 ? 999 : 1000);
  return `${(honest / 10).toFixed(honest % 1000 === 0 ? 0 : 1)} %`;
}

export function score(score: number | null) {
  return score === null ? '–' : String(Math.round(score * 10_000) / 10_000);
}

export function shortScore(score: number | null) {
  if (score === null) return '–';
  const text = score.toFixed(2);
  // A score below 1 must not look like 1.
  if (score < 1 && text === '1.00') return '0.99';
  return score > 0 && text === '0.00' ? '0.01' : text;
}

export function mean(value: number | null) {
  return value === null ? '–' : value.toFixed(3);
}

export function count(count: number) {
  return grouped.format(count);
}

const grouped = new Intl.NumberFormat('en');

export function counted(number: number, noun: string) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export function duration(ms: number) {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

export function percentInterval(interval: readonly [low: number, high: number] | null) {
  if (interval === null) return null;
  return `${percent(interval[0])} – ${percent(interval[1])}`;
}

/** For example `0.812 ± 0.021`, the mean with its standard error. */
export function meanWithError({ mean: value, stderr }: Readonly<Record<'mean' | 'stderr', number | null>>) {
  return stderr === null ? mean(value) : `${mean(value)} ± ${mean(stderr)}`;
}

export function bounds({ min_score: min, max_score: max }: { min_score?: number; max_score?: number }) {
  if (min === undefined && max === undefined) return '≥ 1';
  return boundsOf(min ?? null, max ?? null);
}

export function boundsOf(min: number | null, max: number | null) {
  const parts = [min === null ? [] : [`≥ ${min}`], max === null ? [] : [`≤ ${max}`]].flat();
  return parts.join(' and ');
}

export function instant(iso: string) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
