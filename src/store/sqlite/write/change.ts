import type { Fault } from '../../../base/errors.ts';
import type { RunStatus } from '../../../contract/run.ts';
import type { KeptRecord, RecordParts } from '../record-parts.ts';
import type { Row } from '../row.ts';
import type { Values } from '../statement.ts';

/** What is written while a run goes on, as plain data, so that another thread can write it. */
export type Change =
  | {
      readonly what: 'create_run';
      readonly runId: string;
      readonly run: Values;
      /** What a store of many machines keeps beside. */
      readonly build: string | null;
      readonly isDispatched: boolean;
      /** A JSON object of texts. */
      readonly labels: string | null;
      /** Where it belongs and what it may begin, as JSON. */
      readonly kin: string | null;
    }
  | { readonly what: 'begin_step'; readonly runId: string; readonly step: StepBegin }
  | { readonly what: 'end_step'; readonly runId: string; readonly step: StepEnd }
  | { readonly what: 'add_pending'; readonly runId: string; readonly call: PendingRow }
  | { readonly what: 'set_status'; readonly runId: string; readonly change: StatusChange };

export interface StepBegin {
  readonly step: string;
  readonly at: number;
  /** Refuses with RUN_ENDED, and begins nothing, when the run has been cancelled. */
  readonly unlessCancelled: boolean;
}

export interface StepEnd {
  readonly step: string;
  readonly outcome: KeptRecord;
  readonly at: number;
}

export interface PendingRow {
  readonly id: string;
  readonly at: number;
  readonly row: Values;
}

export interface StatusChange {
  readonly status: RunStatus;
  readonly at: number;
  /** Undefined: as it was. */
  readonly outputParts: RecordParts | null | undefined;
  /** Of a run that has ended. */
  readonly reopens: boolean;
  /** What is kept beside a run that is set down by more than its calls. */
  readonly suspension: Values | null;
  readonly row: Values;
}

/** What a change has come to: a row that says so, or why it was refused with nothing changed. */
export type Answer = { readonly row: Row } | { readonly refusal: Fault };
