import { escapeInvisibleLine as oneLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/format-count.ts';
import { defaultColumns, eraseLine } from '../../../base/text/terminal.ts';
import { cut, textWidth } from '../../../base/text/width.ts';
import type { SuiteProgress } from '../../file/model.ts';
import type { CaseRecord, RunHeader } from '../../record.ts';
import { failuresOf, roleLookup } from '../case-failures.ts';
import { formatDuration, formatPercent, formatRate } from '../numbers.ts';
import { describeFailure } from '../wording.ts';
import { isReadable, openView } from './grid.ts';

/** The part of `process.stderr` that progress writes to. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Nothing at all is written. */
  readonly quiet?: boolean | undefined;
  /** Whether failures are red on a terminal. */
  readonly colour?: boolean | undefined;
  /** How many failures are printed at most; undefined: none, and their number is not printed either. */
  readonly failures?: number | undefined;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * Prints the progress of a run: on a terminal one line that is redrawn, elsewhere a line every ten seconds.
 */
export interface Progress {
  /** Sets the roles of the evals; before it, all count as assertions. */
  begin(header: Pick<RunHeader, 'evals'>): void;
  update(progress: SuiteProgress): void;
  /** Prints the failures of the case, up to the limit of the options. */
  failure(record: CaseRecord): void;
  /**
   * Erases the line on a terminal, elsewhere prints the last state; then the number of failures not
   * printed.
   */
  end(whereToSeeAll?: string): void;
}

export function openProgress(stream: ProgressStream, options: ProgressOptions = {}): Progress {
  if (options.quiet === true) return { begin() {}, update() {}, failure() {}, end() {} };
  const { now = () => performance.now(), colour = false } = options;
  const failures = newFailureLines(options.failures);
  return stream.isTTY === true
    ? openLive(stream, { now, colour, failures })
    : openPlain(stream, { now, colour, failures });
}

interface DisplayOptions {
  readonly now: () => number;
  readonly colour: boolean;
  readonly failures: FailureLines;
}

/** Formats failures up to the limit, and counts the others. */
interface FailureLines {
  begin(header: Pick<RunHeader, 'evals'>): void;
  /** The lines for the failures of the case that are within the limit. */
  linesOf(record: CaseRecord): readonly string[];
  /**
   * One line with the number of failures beyond the limit; empty when there are none, and on later calls.
   */
  restLines(whereToSeeAll: string): readonly string[];
}

function newFailureLines(most: number | undefined): FailureLines {
  let roleOf = roleLookup({ evals: [] });
  let [shownCount, hiddenCount] = [0, 0];
  return {
    begin(header) {
      roleOf = roleLookup(header);
    },
    linesOf(record) {
      if (most === undefined) return [];
      const failures = failuresOf(record, roleOf);
      const shown = failures.slice(0, most - shownCount);
      shownCount += shown.length;
      hiddenCount += failures.length - shown.length;
      return shown.map((failure) => oneLine(describeFailure(failure)));
    },
    restLines(whereToSeeAll) {
      if (hiddenCount === 0) return [];
      const noun = shownCount === 0 ? 'failure' : 'more failure';
      const line = `${formatCount(hiddenCount, noun)}${whereToSeeAll === '' ? '' : `: ${whereToSeeAll}`}`;
      hiddenCount = 0;
      return [line];
    },
  };
}

/**
 * On a terminal: before a redraw every row is erased that the line wrapped to when the terminal was
 * narrowed.
 */
function openLive(stream: ProgressStream, { now, colour, failures }: DisplayOptions): Progress {
  const started = now();
  const { paint } = openView(colour);
  let drawn: { readonly at: number; readonly width: number } | undefined;
  let latest: SuiteProgress | undefined;
  // A line as wide as the terminal would wrap.
  const room = (): number => (isReadable(stream.columns) ? stream.columns : defaultColumns) - 1;
  const erase = (): string => {
    const rows = Math.max(1, Math.ceil((drawn?.width ?? 0) / (room() + 1)));
    return rows === 1 ? eraseLine : `\x1b[${rows - 1}A\r\x1b[J`;
  };
  const draw = (progress: SuiteProgress): string => {
    const line = describeProgress(progress, { elapsedMs: now() - started, columns: room() });
    const text = `${erase()}${line}`;
    drawn = { at: now(), width: textWidth(line) };
    return text;
  };
  return {
    begin: failures.begin,
    update(progress) {
      latest = progress;
      if (drawn !== undefined && now() - drawn.at < redrawMs) return;
      stream.write(draw(progress));
    },
    failure(record) {
      const lines = failures.linesOf(record).map((line) => `${paint('red', cut(line, room()))}\n`);
      if (lines.length === 0) return;
      const above = `${drawn === undefined ? '' : erase()}${lines.join('')}`;
      drawn = undefined;
      stream.write(latest === undefined ? above : `${above}${draw(latest)}`);
    },
    end(whereToSeeAll = '') {
      if (drawn !== undefined) stream.write(erase());
      drawn = undefined;
      for (const line of failures.restLines(whereToSeeAll)) stream.write(`${paint('red', line)}\n`);
    },
  };
}

const redrawMs = 100;

/** For logs: a line of its own every ten seconds, and one at the end. */
function openPlain(stream: ProgressStream, { now, failures }: DisplayOptions): Progress {
  const started = now();
  let printedAt = started;
  let latest: SuiteProgress | undefined;
  const print = (progress: SuiteProgress): void => {
    printedAt = now();
    latest = undefined;
    stream.write(`${describeProgress(progress, { elapsedMs: printedAt - started, columns: undefined })}\n`);
  };
  return {
    begin: failures.begin,
    failure(record) {
      for (const line of failures.linesOf(record)) stream.write(`${cut(line, longestLine)}\n`);
    },
    update(progress) {
      latest = progress;
      if (now() - printedAt >= plainMs) print(progress);
    },
    end(whereToSeeAll = '') {
      if (latest !== undefined) print(latest);
      for (const line of failures.restLines(whereToSeeAll)) stream.write(`${line}\n`);
    },
  };
}

/** What a person reads of one failure in a log. */
const longestLine = 400;

const plainMs = 10_000;

interface ProgressView {
  readonly elapsedMs: number;
  /** Undefined for a log, which has no bar and any width. */
  readonly columns: number | undefined;
}

/** One line with progress, rate, time left, pass rate and failures of a run. */
function describeProgress(progress: SuiteProgress, { elapsedMs, columns }: ProgressView): string {
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
