import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../run/record.ts';

/**
 * Writes a run down in one format. It is called one method at a time, each awaited, `begin` first and `end` last;
 * a run that is given up has no `end`, and what was written until then should be of use. Methods reject when the
 * sink cannot be written.
 */
export interface Reporter {
  begin(header: RunHeader): Promise<void>;
  /** Cases in the order of the dataset. */
  onCase(record: CaseRecord): Promise<void>;
  onProblem(problem: RowProblem): Promise<void>;
  end(report: SuiteReport): Promise<void>;
  /** Lets go of what it keeps outside of memory, when there is no `end`; of those that keep such things. */
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
