import type { Json } from '../../base/json/json.ts';
import type { Fence } from '../../base/time/fence.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';

export interface AskedCall {
  readonly tool: string;
  readonly args: Json;
}

/**
 * `key` is the one without retries. A repeated call keeps its key, so that the tool does not act again; others get a
 * new one.
 */
export type KeyOf = (path: string, key: string, asked: AskedCall) => string;

/** A resumed run starts again from the beginning; journaled steps return their outcome without executing. */
export interface Journal {
  readonly runId: string;
  find(name: string): Json | undefined;
  /** Throws the known errors of `step` before the work begins. Absent: never throws. */
  requireWritable?(name: string): void;
  /** The right to start processes for the run outside of its steps. Absent: none is needed. */
  readonly fence?: Fence;
  readonly around?: Fence | undefined;
  /** The store's time for waits, in ms since 1970. Rejects with STORE_FAILED. Absent: this machine's time. */
  now?(): Promise<number>;
  /** Resolves when all outcomes so far are on disk. Throws STORE_FAILED. Absent: they always are. */
  settle?(): Promise<void>;
  /** Returns the run's output, with long texts of steps stored only once. Absent: unchanged. */
  adopt?(output: Json): Json;
  /** Absent: the run was never retried, so each call has the key of its path. */
  readonly keyOf?: KeyOf;
  /** The run id that call keys begin with. Absent: this run's id. */
  readonly keyRunId?: string;
  /** The number of retries and the start of the last one. Absent: none, or from what had failed. */
  readonly retries?: number;
  readonly retriedFrom?: string;
  /** The retry in which a step runs. Absent: 0. */
  editionOf?(name: string): number;
  /** Whether work of this name was begun in an earlier execution and never ended. */
  wasCutOff(name: string): boolean;
  /**
   * Does `work` unless the step has an outcome. Steps may nest (`answer` contains `answer/round-1`). A step whose work
   * throws is repeated on resume. Throws STORE_FAILED, RUN_ENDED and the errors of `work`.
   */
  step(name: string, work: () => Promise<Json>, options?: StepOptions): Promise<Json>;
  /**
   * Stores each call before `notify` and returns the decided records in order. Throws RunSuspended if this process will
   * not see the decision, ABORTED on the signal, and STORE_FAILED.
   */
  decide(calls: readonly PendingCall[], options: DecideOptions): Promise<readonly DecidedRecord[]>;
  /** Rejects the pending calls inside. Throws STORE_FAILED. Absent: there are none. */
  withdraw?(isInside: (step: string) => boolean, reason: string): Promise<void>;
  /** Drops the outcomes of one loop iteration, such as `loop[3]`, from memory. Absent: they stay. */
  forget?(name: string): void;
}

interface DecideOptions {
  readonly notify?: (pending: PendingRecord) => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface StepOptions {
  /**
   * The step begins once its process has a slot; work that waited for one was never begun. Default: before the work.
   */
  readonly beginsInSlot?: boolean;
  /** The step only contains other steps, so its beginning is not stored. */
  readonly holdsSteps?: boolean;
  /** The outcome need not be on disk when `step` returns, only before the next step begins. Default: `holdsSteps`. */
  readonly isDeferred?: boolean;
}

/** Thrown to suspend a run until its pending calls are decided or its wait ends. */
export class RunSuspended extends Error {
  override readonly name = 'RunPaused';
  /** The end of the earliest wait, in ms since 1970; undefined: there is none. */
  readonly until: number | undefined;
  readonly waitsForCalls: boolean;

  constructor({ until, waitsForCalls = until === undefined }: SuspendedFor = {}) {
    super(waitsForCalls ? 'the run waits for a person' : 'the run waits');
    this.until = until;
    this.waitsForCalls = waitsForCalls;
  }
}

interface SuspendedFor {
  readonly until?: number | undefined;
  readonly waitsForCalls?: boolean;
}

export function mergeSuspended(all: readonly RunSuspended[]): RunSuspended {
  const times = all.flatMap(({ until }) => until ?? []);
  return new RunSuspended({
    until: times.length === 0 ? undefined : Math.min(...times),
    waitsForCalls: all.some(({ waitsForCalls }) => waitsForCalls),
  });
}
