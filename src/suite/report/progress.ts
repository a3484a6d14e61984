import type { SuiteProgress } from '../model.ts';
import { formatCount, formatDuration, formatPercent, formatRate } from './numbers.ts';
import { cut } from './text-width.ts';

/** What a progress line needs of a stream: `process.stderr` has it. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Cases that there will be; without it no remaining time is told. */
  readonly total?: number;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/** One line that tells how far a run is. */
export interface ProgressLine {
  /** Redraws the line, but never more than ten times a second. */
  update(progress: SuiteProgress): void;
  /** Takes the line away. */
  end(): void;
}

/** Writes nothing at all to a stream that is no terminal. */
export function openProgress(stream: ProgressStream, options: ProgressOptions = {}): ProgressLine {
  if (stream.isTTY !== true) return { update() {}, end() {} };
  const { total, now = () => performance.now() } = options;
  const started = now();
  let drawn: number | undefined;
  return {
    update(progress) {
      const time = now();
      if (drawn !== undefined && time - drawn < redrawMs) return;
      drawn = time;
      const line = describe(progress, { total, elapsedMs: time - started });
      // A line as wide as the terminal would wrap, and could not be erased.
      stream.write(`${eraseLine}${cut(line, (stream.columns || 80) - 1)}`);
    },
    end() {
      if (drawn !== undefined) stream.write(eraseLine);
      drawn = undefined;
    },
  };
}

const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

interface Pace {
  readonly total: number | undefined;
  readonly elapsedMs: number;
}

function describe({ cases, evals, failed, unscored }: SuiteProgress, { total, elapsedMs }: Pace): string {
  const done = total === undefined ? formatCount(cases, 'case') : `${cases}/${formatCount(total, 'case')}`;
  const passed = evals === 0 ? [] : [`${formatPercent((evals - failed) / evals)} passed`];
  const missing = unscored === 0 ? [] : [`${unscored} unscored`];
  const left = total === undefined || cases === 0 ? [] : [remaining(cases, { total, elapsedMs })];
  return [done, `${formatRate(cases, elapsedMs)}/s`, ...passed, ...missing, ...left].join('  ');
}

function remaining(cases: number, { total = cases, elapsedMs }: Pace): string {
  const ms = (elapsedMs / cases) * Math.max(0, total - cases);
  return `${formatDuration(ms)} left`;
}
