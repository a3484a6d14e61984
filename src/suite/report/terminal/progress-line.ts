import type { SuiteProgress } from '../../file/model.ts';
import { formatCount, formatDuration, formatPercent, formatRate } from '../numbers.ts';
import { cut } from './text-width.ts';

export interface ProgressView {
  readonly elapsedMs: number;
  /** Undefined for a log, which has no bar and any width. */
  readonly columns: number | undefined;
}

/** How far a run is, how fast, how long it still takes, and how good it looks. */
export function describeProgress(progress: SuiteProgress, { elapsedMs, columns }: ProgressView): string {
  const { cases, problems, failed, unscored, passed, total } = progress;
  const share = shareOf(progress);
  const done = total === null ? formatCount(cases, 'case') : `${cases}/${formatCount(total, 'case')}`;
  const parts = [
    ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
    done,
    `${formatRate(cases, elapsedMs)}/s`,
    ...remaining(share, elapsedMs),
    ...(cases === 0 ? [] : [`${formatPercent(passed / cases)} passed`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(unscored === 0 ? [] : [`${unscored} unscored`]),
    ...(problems === 0 ? [] : [formatCount(problems, 'unusable row')]),
  ];
  const words = parts.join('  ');
  if (columns === undefined) return words;
  return cut(share === null ? words : `${drawBar(share, columns)}${words}`, columns);
}

/** By cases where their number is known, else by how much of the dataset is read. */
function shareOf({ cases, problems, total, fraction }: SuiteProgress): number | null {
  if (total !== null && total > 0) return Math.min(1, (cases + problems) / total);
  // Once all is read, nobody knows how many of the last rows are still worked on.
  return fraction === null || fraction >= 1 ? null : fraction;
}

function remaining(share: number | null, elapsedMs: number): string[] {
  if (share === null || share === 0 || share === 1) return [];
  return [`${formatDuration((elapsedMs * (1 - share)) / share)} left`];
}

/** Nothing where the words need the room. */
function drawBar(share: number, columns: number): string {
  if (columns < narrow) return '';
  const full = Math.round(share * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} `;
}

const barWidth = 20;
const narrow = 79;
