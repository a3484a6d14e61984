import { escapeInvisibleLine as oneLine } from '../../../base/text/escape-invisible.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { cut, defaultColumns, eraseLine, textWidth } from '../../../base/text/width.ts';
import type { SuiteProgress } from '../../file/model.ts';
import type { CaseRecord, RunHeader } from '../../record.ts';
import { failuresOf, roleLookup } from '../case-failures.ts';
import { formatDuration, formatPercent, formatRate } from '../numbers.ts';
import { describeFailure } from '../wording.ts';
import { isReadable, openView } from './grid.ts';

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  readonly quiet?: boolean | undefined;
  readonly colour?: boolean | undefined;
  /** The maximum number of printed failures; undefined prints none and omits their count. */
  readonly failures?: number | undefined;
  readonly now?: () => number;
}

/** On a terminal, redraws one line; elsewhere, prints a line every ten seconds. */
export interface Progress {
  /** Sets the roles of the evals. Before it, all count as assertions. */
  begin(header: Pick<RunHeader, 'evals'>): void;
  update(progress: SuiteProgress): void;
  failure(record: CaseRecord): void;
  /** Erases the line on a terminal, elsewhere prints the final state. Then prints the number of omitted failures. */
  end(whereToSeeAll?: string): void;
}

export function openProgress(stream: ProgressStream, options: ProgressOptions = {}): Progress {
  const { quiet, now = () => performance.now(), colour = false, failures: most } = options;
  if (quiet === true) return { begin() {}, update() {}, failure() {}, end() {} };
  const paint = openView(colour).paint;
  const isLive = stream.isTTY === true;
  const display = isLive ? openLive(stream, now) : openPlain(stream, now);
  const toLine = (text: string) => `${isLive ? paint('red', text) : text}\n`;
  let roleOf = roleLookup({ evals: [] });
  let [shownCount, hiddenCount] = [0, 0];
  return {
    begin(header) {
      roleOf = roleLookup(header);
    },
    update: display.update,
    failure(record) {
      if (most === undefined) return;
      const failures = failuresOf(record, roleOf);
      const shown = failures.slice(0, most - shownCount);
      shownCount += shown.length;
      hiddenCount += failures.length - shown.length;
      const lines = shown.map((each) => toLine(cut(oneLine(describeFailure(each)), display.width())));
      if (lines.length > 0) display.above(lines.join(''));
    },
    end(whereToSeeAll = '') {
      display.end();
      if (hiddenCount === 0) return;
      const noun = shownCount === 0 ? 'failure' : 'more failure';
      const where = whereToSeeAll === '' ? '' : `: ${whereToSeeAll}`;
      stream.write(toLine(`${formatCount(hiddenCount, noun)}${where}`));
      hiddenCount = 0;
    },
  };
}

interface Display {
  update(progress: SuiteProgress): void;
  above(lines: string): void;
  width(): number;
  end(): void;
}

/** Before redrawing, erases all rows that the line wraps to after the terminal was narrowed. */
function openLive(stream: ProgressStream, now: () => number): Display {
  const started = now();
  let drawn: { readonly at: number; readonly width: number } | undefined;
  let latest: SuiteProgress | undefined;
  // A line of the full width would wrap.
  const width = (): number => (isReadable(stream.columns) ? stream.columns : defaultColumns) - 1;
  const erase = (): string => {
    const rows = Math.max(1, Math.ceil((drawn?.width ?? 0) / (width() + 1)));
    return rows === 1 ? eraseLine : `\x1b[${rows - 1}A\r\x1b[J`;
  };
  const draw = (progress: SuiteProgress): string => {
    const line = describeProgress(progress, { elapsedMs: now() - started, columns: width() });
    const text = `${erase()}${line}`;
    drawn = { at: now(), width: textWidth(line) };
    return text;
  };
  return {
    width,
    update(progress) {
      latest = progress;
      if (drawn === undefined || now() - drawn.at >= redrawMs) stream.write(draw(progress));
    },
    above(lines) {
      const above = `${drawn === undefined ? '' : erase()}${lines}`;
      drawn = undefined;
      stream.write(latest === undefined ? above : `${above}${draw(latest)}`);
    },
    end() {
      if (drawn !== undefined) stream.write(erase());
      drawn = undefined;
    },
  };
}

const redrawMs = 100;

function openPlain(stream: ProgressStream, now: () => number): Display {
  const started = now();
  let printedAt = started;
  let latest: SuiteProgress | undefined;
  const print = (progress: SuiteProgress): void => {
    printedAt = now();
    latest = undefined;
    stream.write(`${describeProgress(progress, { elapsedMs: printedAt - started, columns: undefined })}\n`);
  };
  return {
    // The maximum width of a failure in a log.
    width: () => 400,
    above: (lines) => void stream.write(lines),
    update(progress) {
      latest = progress;
      if (now() - printedAt >= plainMs) print(progress);
    },
    end() {
      if (latest !== undefined) print(latest);
    },
  };
}

const plainMs = 10_000;

interface ProgressView {
  readonly elapsedMs: number;
  /** Undefined for a log, which has no bar and unlimited width. */
  readonly columns: number | undefined;
}

function describeProgress(progress: SuiteProgress, { elapsedMs, columns }: ProgressView): string {
  const { cases, problems, failed, unscored, passed, total, fraction } = progress;
  // Based on cases if their number is known, else on the share of the dataset read. After its last byte, an unknown
  // number of rows is still in flight.
  const ofDataset = fraction === null || fraction >= 1 ? null : fraction;
  const share = total !== null && total > 0 ? Math.min(1, (cases + problems) / total) : ofDataset;
  const isUnderWay = share !== null && share > 0 && share < 1;
  const words = [
    ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
    total === null ? formatCount(cases, 'case') : `${cases}/${formatCount(total, 'case')}`,
    `${formatRate(cases, elapsedMs)}/s`,
    ...(isUnderWay ? [`${formatDuration((elapsedMs * (1 - share)) / share)} left`] : []),
    ...(cases === 0 ? [] : [`${formatPercent(passed / cases)} passed`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(unscored === 0 ? [] : [`${unscored} unscored`]),
    ...(problems === 0 ? [] : [formatCount(problems, 'invalid row')]),
  ].join('  ');
  if (columns === undefined) return words;
  if (share === null || columns < minBarColumns) return cut(words, columns);
  const full = Math.round(share * barWidth);
  return cut(`${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${words}`, columns);
}

const barWidth = 20;
const minBarColumns = 79;
