import type { Fault } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { Rating } from '../rating/rating.ts';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../record.ts';

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

/** A file that is being written. */
export interface FileSink extends Sink {
  /** Writes the buffer. Throws FILE_UNREADABLE. */
  flush(): Promise<void>;
  /** Writes the buffer, closes the file and renames it to its final name. Throws FILE_UNREADABLE. */
  publish(): Promise<void>;
  /** Closes the file and removes it, unless it `grows`. */
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

/** Writes the runs of suites, one after another, as one report in one format. */
export interface ReportWriter {
  /** The reporter of the next suite. Its `end` may be missing, when the suite ends with a fault. */
  next(suite: SuiteName): Reporter;
  /** Called last. Rejects when the sink cannot be written. */
  end(report: SeveralReport): Promise<void>;
  /** Files beside its own, which are published before it. */
  pages?(): readonly FileSink[];
  /** Releases resources outside of memory; called always, and last. */
  close?(): void;
}

/** Opens a format over a sink. One suite has the report of a single run, several have a report of them all. */
export type OpenWriter = (sink: Sink, place: ReportPlace) => ReportWriter;

export interface ReportPlace {
  readonly isSeveral: boolean;
  /** Undefined for stdout. */
  readonly file?: string | undefined;
}

/** A suite of several, whose names are unique. */
export interface SuiteName {
  readonly suite: string;
  /** As the user gave it, or found it in a folder. */
  readonly file: string;
}

/** What one suite came to: a report, or the fault for which it has none; `problems` are lines of its files. */
export type SuiteOutcome = SuiteName &
  (
    | { readonly report: SuiteReport }
    | { readonly error: Fault & { readonly problems?: readonly unknown[] | undefined } }
  );

/** What all suites came to, in the order in which they ran. */
export interface SeveralReport {
  /** `error` when one of them is, else `failed` when one did. */
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

/** How many of the suites passed, failed, and ended with an error. */
export function countStatuses({ outcomes }: SeveralReport) {
  const count = (status: SuiteReport['status']) =>
    outcomes.filter((outcome) => statusOf(outcome) === status).length;
  return { passed: count('passed'), failed: count('failed'), errors: count('error') };
}

/** `2 of 3 suites passed, 1 failed`. */
export function describeSeveral(report: SeveralReport): string {
  const { passed, failed, errors } = countStatuses(report);
  return [
    `${passed} of ${formatCount(report.outcomes.length, 'suite')} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(errors === 0 ? [] : [`${errors} ended with an error`]),
  ].join(', ');
}

/** The report of a single suite, as the case of several with one member. */
export function ofOne(report: SuiteReport, file: string): SeveralReport {
  const { status, suite, duration_ms: durationMs } = report;
  return { status, outcomes: [{ suite, file, report }], durationMs };
}

/** A format that is written once everything is over. */
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
