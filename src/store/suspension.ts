import type { Fault } from '../base/errors.ts';
import { stringifyJson } from '../base/json/json.ts';
import type { RunStatus } from '../contract/run.ts';
import { enumOf, faultOrNull, numberOf, type Row, textOf } from './sqlite/row.ts';

/** Why a run that has not ended is nobody's work, and when somebody is to go on with it. Times are ms since 1970. */
export interface Suspension {
  /** fault: of a model's API or a server. wait: a step lets time go by. */
  readonly why: 'fault' | 'wait';
  /** When the fault came first, or the wait began. */
  readonly since: number;
  readonly dueAt: number;
  /** How often in a row the fault came; 0 of a wait. */
  readonly tries: number;
  /** Where it came: a path of the journal; empty of a wait. */
  readonly step: string;
  /** Null of a wait. */
  readonly error: Fault | null;
  /** Whether people are waited for too: then the run is due as well when all of its calls are decided. */
  readonly waitsForCalls: boolean;
}

/** Which runs can be gone on with. */
export interface DueFilter {
  /** ms since 1970. */
  readonly at: number;
  /** Those that a fault suspended, whenever they are due. */
  readonly withFaults?: boolean | undefined;
  /** Only this one. */
  readonly id?: string | undefined;
}

/** Why a run can be gone on with; `running`: it began, and whether somebody executes it is told by its claim. */
export interface DueRun {
  readonly id: string;
  readonly why: 'fault' | 'wait' | 'decided' | 'running';
}

export interface DueRuns {
  readonly runs: readonly DueRun[];
  /** When the next one is due by the clock, ms since 1970; undefined: none is. */
  readonly nextAt: number | undefined;
}

/** What a run that is kept as `pending` is, by what is kept beside it. */
export function statusWith(kept: RunStatus, suspension: Suspension | undefined): RunStatus {
  if (kept !== 'pending' || suspension === undefined) return kept;
  if (suspension.why === 'fault') return 'suspended';
  return suspension.waitsForCalls ? 'pending' : 'waiting';
}

/** As which status a run is kept: what else than a call it waits for is kept beside it. */
export function keptStatus(status: RunStatus): RunStatus {
  return status === 'suspended' || status === 'waiting' ? 'pending' : status;
}

/** Its columns in a query over runs, in which it is `s`. */
export const suspensionColumns = 's.why, s.since, s.due_at, s.tries, s.step, s.error AS fault, s.calls';

/** The values of these columns. */
export function suspensionToRow({ why, since, dueAt, tries, step, error, waitsForCalls }: Suspension) {
  const text = error === null ? null : stringifyJson(error);
  return { why, since, due_at: dueAt, tries, step, error: text, calls: waitsForCalls ? 1 : 0 };
}

/** The suspension in these columns of a row; none where there is none. Throws Damaged. */
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

/** Whether a run of a list is of a status, as both kinds of store have it; `s` is what is kept beside it. */
export const isOfStatus: Readonly<Partial<Record<RunStatus, string>>> = {
  pending: "runs.status = 'pending' AND (s.why IS NULL OR (s.why = 'wait' AND s.calls = 1))",
  suspended: "runs.status = 'pending' AND s.why = 'fault'",
  waiting: "runs.status = 'pending' AND s.why = 'wait' AND s.calls = 0",
};
