import type { Fault } from '../../../base/errors.ts';
import type { RunStatus } from '../../../contract/run.ts';
import type { KeptRecord, RecordParts } from '../record-parts.ts';
import type { Row } from '../row.ts';
import type { Values } from '../statement.ts';

/** A write of a running run as plain data, so that another thread can make it. */
export type Change =
  | {
      readonly what: 'create_run';
      readonly runId: string;
      readonly run: Values;
      readonly build: string | null;
      readonly isDispatched: boolean;
      readonly labels: string | null;
      readonly kin: string | null;
    }
  | { readonly what: 'begin_step'; readonly runId: string; readonly step: StepBegin }
  | { readonly what: 'end_step'; readonly runId: string; readonly step: StepEnd }
  | { readonly what: 'add_pending'; readonly runId: string; readonly call: PendingRow }
  | { readonly what: 'set_status'; readonly runId: string; readonly change: StatusChange };

export interface StepBegin {
  readonly step: string;
  readonly at: number;
  /** Refuses with RUN_ENDED if the run was cancelled. */
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
  readonly outputParts: RecordParts | null | undefined;
  readonly reopens: boolean;
  readonly suspension: Values | null;
  readonly row: Values;
}

export type Answer = { readonly row: Row } | { readonly refusal: Fault };
