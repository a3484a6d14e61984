import type { SuiteProgress } from '../model.ts';
import type { CaseRecord, RunHeader } from '../record.ts';
import { isReadable } from './grid.ts';
import { failuresOf, openRoles } from './outcome.ts';
import { openPaint } from './paint.ts';
import { describeProgress } from './progress-line.ts';
import { cut, oneLine, textWidth } from './text-width.ts';
import { describeFailure } from './wording.ts';

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
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/** Tells how far a run is: on a terminal a line that is drawn anew, elsewhere a line now and then. */
export interface Progress {
  /** Makes the roles of the evals known; before it, all of them count as assertions. */
  begin(header: Pick<RunHeader, 'evals'>): void;
  update(progress: SuiteProgress): void;
  /** Shows on a terminal what did not pass of the case, if anything. */
  failure(record: CaseRecord): void;
  /** Takes the line of a terminal away; elsewhere tells the last state. */
  end(): void;
}

export function openProgress(stream: ProgressStream, options: ProgressOptions = {}): Progress {
  if (options.quiet === true) return { begin() {}, update() {}, failure() {}, end() {} };
  const { now = () => performance.now() } = options;
  return stream.isTTY === true
    ? openLive(stream, { now, colour: options.colour === true })
    : openPlain(stream, now);
}

/** A redrawn line is erased first: of what a narrowed terminal has wrapped, every row. */
function openLive(stream: ProgressStream, { now, colour }: { now: () => number; colour: boolean }): Progress {
  const started = now();
  const paint = openPaint(colour);
  let roleOf = openRoles({ evals: [] });
  let drawn: { readonly at: number; readonly width: number; readonly progress: SuiteProgress } | undefined;
  // A line as wide as the terminal would wrap.
  const room = (): number => (isReadable(stream.columns) ? stream.columns : 80) - 1;
  const erase = (): string => {
    const rows = Math.max(1, Math.ceil((drawn?.width ?? 0) / (room() + 1)));
    return rows === 1 ? eraseLine : `\x1b[${rows - 1}A\r\x1b[J`;
  };
  const draw = (progress: SuiteProgress): string => {
    const line = describeProgress(progress, { elapsedMs: now() - started, columns: room() });
    const text = `${erase()}${line}`;
    drawn = { at: now(), width: textWidth(line), progress };
    return text;
  };
  return {
    begin(header) {
      roleOf = openRoles(header);
    },
    update(progress) {
      if (drawn !== undefined && now() - drawn.at < redrawMs) return;
      stream.write(draw(progress));
    },
    failure(record) {
      const lines = failuresOf(record, roleOf).map(
        (failure) => `${paint('red', cut(oneLine(describeFailure(failure)), room()))}\n`,
      );
      if (lines.length === 0) return;
      const above = `${drawn === undefined ? '' : erase()}${lines.join('')}`;
      const shown = drawn?.progress;
      drawn = undefined;
      stream.write(shown === undefined ? above : `${above}${draw(shown)}`);
    },
    end() {
      if (drawn !== undefined) stream.write(erase());
      drawn = undefined;
    },
  };
}

const redrawMs = 100;
const eraseLine = '\r\x1b[2K';

/** For logs: a line of its own every ten seconds, and one at the end. */
function openPlain(stream: ProgressStream, now: () => number): Progress {
  const started = now();
  let told = started;
  let latest: SuiteProgress | undefined;
  const tell = (progress: SuiteProgress): void => {
    told = now();
    latest = undefined;
    stream.write(`${describeProgress(progress, { elapsedMs: told - started, columns: undefined })}\n`);
  };
  return {
    begin() {},
    failure() {},
    update(progress) {
      latest = progress;
      if (now() - told >= plainMs) tell(progress);
    },
    end() {
      if (latest !== undefined) tell(latest);
    },
  };
}

const plainMs = 10_000;
