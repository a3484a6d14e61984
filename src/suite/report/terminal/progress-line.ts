import { formatCount } from '../../../text/format-count.ts';
import { cut } from '../../../text/width.ts';
import type { SuiteProgress } from '../../file/model.ts';
import { formatDuration, formatPercent, formatRate } from '../numbers.ts';

export interface ProgressView {
  readonly elapsedMs: number;
  /** Undefined for a log, which has no bar and any width. */
  readonly columns: number | undefined;
}

/** One line with progress, rate, time left, pass rate and failures of a run. */
export function describeProgress(progress: SuiteProgress, { elapsedMs, columns }: ProgressView): string {
  const { cases, problems, failed, unscored, passed, total } = progress;
  const share = shareOf(progress);
  const done = total === null ? formatCount(cases, 'case') : `${cases}/${formatCount(total, 'case')}`;
  const parts = [
    ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
    done,
    `${formatRate(cases, elapsedMs)}/s`,
    ...remainingTime(share, elapsedMs),
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
  // After the last byte is read, an unknown number of rows is still in flight.
  return fraction === null || fraction >= 1 ? null : fraction;
}

function remainingTime(share: number | null, elapsedMs: number): string[] {
  if (share === null || share === 0 || share === 1) return [];
  return [`${formatDuration((elapsedMs * (1 - share)) / share)} left`];
}

/** A bar; empty on a terminal too narrow for it. */
function drawBar(share: number, columns: number): string {
  if (columns < minBarColumns) return '';
  const full = Math.round(share * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} `;
}

const barWidth = 20;
const minBarColumns = 79;
