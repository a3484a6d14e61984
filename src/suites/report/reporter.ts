import type { Fault } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { Rating } from '../rating/rating.ts';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../record.ts';

/**
 * Writes a run in one format. Methods are called one at a time, `begin` first and `end` last. An aborted run has no
 * `end`, but its output should be usable. Methods reject if the sink cannot be written.
 */
export interface Reporter {
  /** False if `onCase` does nothing, so that cases need not be read. */
  readonly readsCases?: boolean | undefined;
  begin(header: RunHeader): Promise<void>;
  /** Called in the order of the dataset. */
  onCase(record: CaseRecord): Promise<void>;
  onProblem(problem: RowProblem): Promise<void>;
  /** A rating of a replayed run, after the cases. Omitted if the format does not show ratings. */
  onRating?(rating: Rating): Promise<void>;
  end(report: SuiteReport): Promise<void>;
  /** Releases external resources if there will be no `end`. */
  abort?(): void;
}

export interface Sink {
  /** Resolves when more can be written. Throws FILE_UNREADABLE. */
  write(text: string): Promise<void>;
  readonly hasColour: boolean;
  /** The line width in characters; undefined for a file. */
  readonly columns: number | undefined;
}

export interface FileSink extends Sink {
  /** Flushes the buffer. Throws FILE_UNREADABLE. */
  flush(): Promise<void>;
  /** Flushes, closes and renames the file to its final name. Throws FILE_UNREADABLE. */
  publish(): Promise<void>;
  /** Closes and removes the file, unless it `grows`. */
  discard(): Promise<void>;
}

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

/** Writes the runs of several suites one after another as one report. */
export interface ReportWriter {
  /** The reporter of the next suite. Its `end` is not called if the suite ends with a fault. */
  next(suite: SuiteName): Reporter;
  /** Rejects if the sink cannot be written. */
  end(report: SeveralReport): Promise<void>;
  /** Additional files, published before the main file. */
  pages?(): readonly FileSink[];
  /** Releases external resources. Always called, last. */
  close?(): void;
}

/** Opens a format. One suite gets the report of a single run, several get a combined report. */
export type OpenWriter = (sink: Sink, place: ReportPlace) => ReportWriter;

export interface ReportPlace {
  readonly isSeveral: boolean;
  readonly file?: string | undefined;
}

export interface SuiteName {
  readonly suite: string;
  /** As the user gave it or as found in a folder. */
  readonly file: string;
}

/** A report, or the fault that prevented it. `problems` refer to lines of its files. */
export type SuiteOutcome = SuiteName &
  (
    | { readonly report: SuiteReport }
    | { readonly error: Fault & { readonly problems?: readonly unknown[] | undefined } }
  );

export interface SeveralReport {
  /** `error` if any suite has an error, else `failed` if any failed. */
  readonly status: SuiteReport['status'];
  readonly outcomes: readonly SuiteOutcome[];
  readonly durationMs: number;
}

export function toSeveralReport(outcomes: readonly SuiteOutcome[], durationMs: number): SeveralReport {
  const found = outcomes.map(statusOf);
  const status = (['error', 'failed'] as const).find((each) => found.includes(each)) ?? 'passed';
  return { status, outcomes, durationMs: Math.round(durationMs) };
}

export function statusOf(outcome: SuiteOutcome): SuiteReport['status'] {
  return 'report' in outcome ? outcome.report.status : 'error';
}

export function countStatuses({ outcomes }: SeveralReport) {
  const count = (status: SuiteReport['status']) =>
    outcomes.filter((outcome) => statusOf(outcome) === status).length;
  return { passed: count('passed'), failed: count('failed'), errors: count('error') };
}

/** For example `2 of 3 suites passed, 1 failed`. */
export function describeSeveral(report: SeveralReport): string {
  const { passed, failed, errors } = countStatuses(report);
  return [
    `${passed} of ${formatCount(report.outcomes.length, 'suite')} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(errors === 0 ? [] : [`${errors} ended with an error`]),
  ].join(', ');
}

export function ofOne(report: SuiteReport, file: string): SeveralReport {
  const { status, suite, duration_ms: durationMs } = report;
  return { status, outcomes: [{ suite, file, report }], durationMs };
}

export function writesAtEnd(
  render: (report: SeveralReport, place: ReportPlace, sink: Sink) => string,
): OpenWriter {
  const nothing = async () => {};
  return (sink, place) => ({
    next: () => ({
      ...{ readsCases: false, begin: nothing, onCase: nothing, onProblem: nothing, end: nothing },
    }),
    end: (report) => sink.write(render(report, place, sink)),
  });
}
