import type { SuiteProgress } from '../../file/model.ts';
import type { CaseRecord, RunHeader } from '../../run/record.ts';
import { formatCount } from '../numbers.ts';
import { failuresOf, openRoles } from '../outcome.ts';
import { describeFailure } from '../wording.ts';
import { isReadable } from './grid.ts';
import { openPaint } from './paint.ts';
import { describeProgress } from './progress-line.ts';
import { cut, oneLine, textWidth } from './text-width.ts';

/** What progress needs of a stream: `process.stderr` has it. */
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
  /** How many failures are told, at most; undefined: none, and nothing is said of them. */
  readonly failures?: number | undefined;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/** Tells how far a run is: on a terminal a line that is drawn anew, elsewhere a line now and then. */
export interface Progress {
  /** Makes the roles of the evals known; before it, all of them count as assertions. */
  begin(header: Pick<RunHeader, 'evals'>): void;
  update(progress: SuiteProgress): void;
  /** Tells what did not pass of the case, if anything, as long as there is room for it. */
  failure(record: CaseRecord): void;
  /** Takes the line of a terminal away, elsewhere tells the last state; then how many failures were not told. */
  end(whereToSeeAll?: string): void;
}

export function openProgress(stream: ProgressStream, options: ProgressOptions = {}): Progress {
  if (options.quiet === true) return { begin() {}, update() {}, failure() {}, end() {} };
  const { now = () => performance.now(), colour = false } = options;
  const teller = newTeller(options.failures);
  return stream.isTTY === true
    ? openLive(stream, { now, colour, teller })
    : openPlain(stream, { now, colour, teller });
}

interface Setting {
  readonly now: () => number;
  readonly colour: boolean;
  readonly teller: Teller;
}

/** Knows which failures there is room for, and counts the others. */
interface Teller {
  begin(header: Pick<RunHeader, 'evals'>): void;
  /** Of what did not pass of the case, the lines that are still told. */
  linesOf(record: CaseRecord): readonly string[];
  /** How many were not told, once; nothing when all were. */
  rest(whereToSeeAll: string): readonly string[];
}

function newTeller(most: number | undefined): Teller {
  let roleOf = openRoles({ evals: [] });
  let [told, untold] = [0, 0];
  return {
    begin(header) {
      roleOf = openRoles(header);
    },
    linesOf(record) {
      if (most === undefined) return [];
      const failures = failuresOf(record, roleOf);
      const shown = failures.slice(0, most - told);
      told += shown.length;
      untold += failures.length - shown.length;
      return shown.map((failure) => oneLine(describeFailure(failure)));
    },
    rest(whereToSeeAll) {
      if (untold === 0) return [];
      const noun = told === 0 ? 'failure' : 'more failure';
      const line = `${formatCount(untold, noun)}${whereToSeeAll === '' ? '' : `: ${whereToSeeAll}`}`;
      untold = 0;
      return [line];
    },
  };
}

/** A redrawn line is erased first: of what a narrowed terminal has wrapped, every row. */
function openLive(stream: ProgressStream, { now, colour, teller }: Setting): Progress {
  const started = now();
  const paint = openPaint(colour);
  let drawn: { readonly at: number; readonly width: number } | undefined;
  let latest: SuiteProgress | undefined;
  // A line as wide as the terminal would wrap.
  const room = (): number => (isReadable(stream.columns) ? stream.columns : 80) - 1;
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
    begin: teller.begin,
    update(progress) {
      latest = progress;
      if (drawn !== undefined && now() - drawn.at < redrawMs) return;
      stream.write(draw(progress));
    },
    failure(record) {
      const lines = teller.linesOf(record).map((line) => `${paint('red', cut(line, room()))}\n`);
      if (lines.length === 0) return;
      const above = `${drawn === undefined ? '' : erase()}${lines.join('')}`;
      drawn = undefined;
      stream.write(latest === undefined ? above : `${above}${draw(latest)}`);
    },
    end(whereToSeeAll = '') {
      if (drawn !== undefined) stream.write(erase());
      drawn = undefined;
      for (const line of teller.rest(whereToSeeAll)) stream.write(`${paint('red', line)}\n`);
    },
  };
}

const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

/** For logs: a line of its own every ten seconds, and one at the end. */
function openPlain(stream: ProgressStream, { now, teller }: Setting): Progress {
  const started = now();
  let told = started;
  let latest: SuiteProgress | undefined;
  const tell = (progress: SuiteProgress): void => {
    told = now();
    latest = undefined;
    stream.write(`${describeProgress(progress, { elapsedMs: told - started, columns: undefined })}\n`);
  };
  return {
    begin: teller.begin,
    failure(record) {
      for (const line of teller.linesOf(record)) stream.write(`${cut(line, longestLine)}\n`);
    },
    update(progress) {
      latest = progress;
      if (now() - told >= plainMs) tell(progress);
    },
    end(whereToSeeAll = '') {
      if (latest !== undefined) tell(latest);
      for (const line of teller.rest(whereToSeeAll)) stream.write(`${line}\n`);
    },
  };
}

/** What a person reads of one failure in a log. */
const longestLine = 400;

const plainMs = 10_000;
