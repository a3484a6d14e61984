import type { Fault } from '../base/errors.ts';
import { stringifyJson } from '../base/json/json.ts';
import type { RunStatus } from '../contract/run.ts';
import { enumOf, faultOrNull, numberOf, type Row, textOf } from './sqlite/row.ts';

/** Why an unfinished run is not executed, and when it is due. Times are ms since 1970. */
export interface Suspension {
  /** fault: a failure of a model API or a server. wait: a `wait` step. */
  readonly why: 'fault' | 'wait';
  /** When the failure first occurred, or the wait began. */
  readonly since: number;
  readonly dueAt: number;
  /** The number of consecutive failures; 0 for a wait. */
  readonly tries: number;
  /** The journal path of the failure; empty for a wait. */
  readonly step: string;
  readonly error: Fault | null;
  /** Whether calls wait too: then the run is also due when all are decided. */
  readonly waitsForCalls: boolean;
}

export interface DueFilter {
  readonly at: number;
  /** Includes all runs suspended after a failure, whenever they are due. */
  readonly withFaults?: boolean | undefined;
  readonly id?: string | undefined;
}

/** Why a run can be resumed; `running`: only its claim shows whether it is executed. */
export interface DueRun {
  readonly id: string;
  readonly why: 'fault' | 'wait' | 'decided' | 'running';
}

export interface DueRuns {
  readonly runs: readonly DueRun[];
  /** When the next run is due, ms since 1970; undefined if none is. */
  readonly nextAt: number | undefined;
}

export function statusWith(kept: RunStatus, suspension: Suspension | undefined): RunStatus {
  if (kept !== 'pending' || suspension === undefined) return kept;
  if (suspension.why === 'fault') return 'suspended';
  return suspension.waitsForCalls ? 'pending' : 'waiting';
}

export function keptStatus(status: RunStatus): RunStatus {
  return status === 'suspended' || status === 'waiting' ? 'pending' : status;
}

export const suspensionColumns = 's.why, s.since, s.due_at, s.tries, s.step, s.error AS fault, s.calls';

export function suspensionToRow({ why, since, dueAt, tries, step, error, waitsForCalls }: Suspension) {
  const text = error === null ? null : stringifyJson(error);
  return { why, since, due_at: dueAt, tries, step, error: text, calls: waitsForCalls ? 1 : 0 };
}

export function suspensionFromRow(row: Row): { readonly suspension?: Suspension } {
  if (row['why'] === null || row['why'] === undefined) return {};
  return {
    suspension: {
      why: enumOf(row, 'why', ['fault', 'wait']),
      since: numberOf(row, 'since'),
      dueAt: numberOf(row, 'due_at'),
      tries: numberOf(row, 'tries'),
      step: textOf(row, 'step'),
      error: faultOrNull(row, 'fault'),
      waitsForCalls: numberOf(row, 'calls') === 1,
    },
  };
}

/** SQL conditions for a status; `s` is the suspension. */
export const isOfStatus: Readonly<Partial<Record<RunStatus, string>>> = {
  pending: "runs.status = 'pending' AND (s.why IS NULL OR (s.why = 'wait' AND s.calls = 1))",
  suspended: "runs.status = 'pending' AND s.why = 'fault'",
  waiting: "runs.status = 'pending' AND s.why = 'wait' AND s.calls = 0",
};
