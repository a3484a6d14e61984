import type { Fault } from '../../../errors.ts';
import { formatCount } from '../../../text/format-count.ts';
import type { SuiteReport } from '../../run/record.ts';
import type { Reporter, Sink } from '../reporter.ts';

/** What one of several suites came to: a report, or the fault for which it has none. */
export type SuiteOutcome = SuiteName & ({ readonly report: SuiteReport } | { readonly error: SuiteFault });

/** A suite of several, whose names are unique. */
export interface SuiteName {
  readonly suite: string;
  /** As the user gave it, or found it in a folder. */
  readonly file: string;
}

/** Why a suite could not be run to its end; `problems` are lines of its files. */
type SuiteFault = Fault & { readonly problems?: readonly unknown[] | undefined };

/** What several suites came to, in the order in which they ran. */
export interface SeveralReport {
  /** `error` when one of them is, else `failed` when one did. */
  readonly status: SuiteReport['status'];
  readonly outcomes: readonly SuiteOutcome[];
  readonly durationMs: number;
}

export function statusOf(outcome: SuiteOutcome): SuiteReport['status'] {
  return 'report' in outcome ? outcome.report.status : 'error';
}

export function toSeveralReport(outcomes: readonly SuiteOutcome[], durationMs: number): SeveralReport {
  const found = outcomes.map(statusOf);
  const status = (['error', 'failed'] as const).find((each) => found.includes(each)) ?? 'passed';
  return { status, outcomes, durationMs: Math.round(durationMs) };
}

/** How many of the suites passed, failed, and ended with an error. */
export function countStatuses({ outcomes }: SeveralReport): {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
} {
  const count = (status: SuiteReport['status']) =>
    outcomes.filter((outcome) => statusOf(outcome) === status).length;
  return { passed: count('passed'), failed: count('failed'), errors: count('error') };
}

/** `2 of 3 suites passed, 1 failed`. */
export function describeSeveral(report: SeveralReport): string {
  const { passed, failed, errors } = countStatuses(report);
  const all = report.outcomes.length;
  return [
    `${passed} of ${formatCount(all, 'suite')} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(errors === 0 ? [] : [`${errors} ended with an error`]),
  ].join(', ');
}

/** Writes the runs of several suites, one after another, as one report in one format. */
export interface SeveralReporter {
  /** The reporter of the next suite. Its `end` may be missing, when the suite ends with a fault. */
  next(suite: SuiteName): Promise<Reporter>;
  /** Called last. Rejects when the sink cannot be written. */
  end(report: SeveralReport): Promise<void>;
  /** Releases resources outside of memory; called always, and last. */
  close?(): void;
}

export type OpenSeveralReporter = (sink: Sink) => SeveralReporter;
