import type { Rating } from '../rating/rating.ts';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../run/record.ts';

/**
 * Writes a run in one format. Methods are called one at a time, each awaited, `begin` first and `end` last;
 * an aborted run has no `end`, and what was written until then should be usable. Methods reject when the
 * sink cannot be written.
 */
export interface Reporter {
  /** false: `onCase` does nothing, so that cases need not be read for it. */
  readonly readsCases?: boolean | undefined;
  begin(header: RunHeader): Promise<void>;
  /** Cases in the order of the dataset. */
  onCase(record: CaseRecord): Promise<void>;
  onProblem(problem: RowProblem): Promise<void>;
  /** What a person said of a case of a run that is shown again; after the cases. Left out where the format has no place for it. */
  onRating?(rating: Rating): Promise<void>;
  end(report: SuiteReport): Promise<void>;
  /** Releases resources outside of memory when there will be no `end`. */
  abort?(): void;
}

/** Where a reporter writes: a file, or stdout. */
export interface Sink {
  /** Resolves when more may be written. Throws FILE_UNREADABLE. */
  write(text: string): Promise<void>;
  /** For reports that people read on a terminal. */
  readonly hasColour: boolean;
  /** Characters to a line; undefined in a file. */
  readonly columns: number | undefined;
}

/** Makes a reporter over a sink. */
export type OpenReporter = (sink: Sink) => Reporter;

export const reporterNames = [
  'table',
  'json',
  'jsonl',
  'csv',
  'junit',
  'markdown',
  'github',
  'sarif',
  'html',
] as const;
export type ReporterName = (typeof reporterNames)[number];
