import type { Json } from '../../base/json/json.ts';
import type { Fence } from '../../base/time/fence.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';

export interface AskedCall {
  readonly tool: string;
  readonly args: Json;
}

/**
 * The idempotency key of a call, of which `key` is what it would be in a run that was never retried. What was asked for before a
 * retry has the key that it had, so that a tool that did its work does not do it again. What is asked for now and was not then
 * has a new one, since a tool would take it for the other.
 */
export type KeyOf = (path: string, key: string, asked: AskedCall) => string;

/**
 * The durable outcomes of a run's steps. A run resumes by running again from its start: a step that the
 * journal has is not executed a second time, its outcome is returned.
 */
export interface Journal {
  readonly runId: string;
  /** The outcome of the step of that name, if it has one. */
  find(name: string): Json | undefined;
  /**
   * Throws what `step` would throw before it begins the work, as far as that is known. Absent: never throws.
   */
  requireWritable?(name: string): void;
  /** The right to start processes for the run, outside of its steps. Absent: it needs none. */
  readonly fence?: Fence;
  /** The one around the whole run, which `fence` asks too. */
  readonly around?: Fence | undefined;
  /** The time by which its waits end, ms since 1970: that of its store. Rejects with STORE_FAILED. Absent: that of this machine. */
  now?(): Promise<number>;
  /** Resolves when all outcomes so far are on the disk. Throws STORE_FAILED. Absent: they always are. */
  settle?(): Promise<void>;
  /** The output of the run, in which a long text that a step has is not kept again. Absent: as it is. */
  adopt?(output: Json): Json;
  /** Absent: the run was never retried, and a call has the key of its place. */
  readonly keyOf?: KeyOf;
  /** Whose id keys of calls begin with. Absent: the run's own. */
  readonly keyRunId?: string;
  /** How often the run was retried, and from which step the last time. Absent: never; from what had failed. */
  readonly retries?: number;
  readonly retriedFrom?: string;
  /** The retry in which a step is done. Absent: 0. */
  editionOf?(name: string): number;
  /** Whether work under this name was begun, before this execution of the run, and never ended. */
  wasCutOff(name: string): boolean;
  /**
   * Returns the outcome of the step `name`; without one, does `work`, stores its outcome and returns it.
   * Steps may nest (`answer` contains `answer/round-1`). If `work` throws, the step stays open and is done
   * again on resume. Work begins when all outcomes before it are on the disk. Throws STORE_FAILED, RUN_ENDED and what `work` throws.
   */
  step(name: string, work: () => Promise<Json>, options?: StepOptions): Promise<Json>;
  /**
   * Waits until all these calls are decided, and returns their records with the decisions, in order. Each
   * is stored before `notify` is called for it, unless it is decided already. Throws RunSuspended if the
   * decision will not come in this process, ABORTED when the signal ends the wait, and STORE_FAILED.
   */
  decide(calls: readonly PendingCall[], options: DecideOptions): Promise<readonly DecidedRecord[]>;
  /** Rejects the calls inside that wait for a person: nobody goes on with them. Throws STORE_FAILED. Absent: there are none. */
  withdraw?(isInside: (step: string) => boolean, reason: string): Promise<void>;
  /** Drops from memory what this run of a loop, such as `loop[3]`, came to; the store keeps it. Absent: it stays. */
  forget?(name: string): void;
}

interface DecideOptions {
  readonly notify?: (pending: PendingRecord) => Promise<void>;
  /** Default: that of the run. */
  readonly signal?: AbortSignal;
}

export interface StepOptions {
  /**
   * The step counts as begun once the first process of its work has its slot, and no sooner: what waits for a slot when this
   * process ends was never begun. Default: before the work.
   */
  readonly beginsInSlot?: boolean;
  /** The step only contains other steps, so its beginning need not be stored. */
  readonly holdsSteps?: boolean;
  /**
   * The outcome need not be on the disk when `step` returns: nobody acts on it before the next step begins or the
   * journal is settled. Default: `holdsSteps`.
   */
  readonly isDeferred?: boolean;
}

/** Thrown to set a run down until its pending calls are decided, or a wait in it is over. */
export class RunSuspended extends Error {
  override readonly name = 'RunPaused';
  /** When the first of its waits is over, ms since 1970; undefined: it has none. */
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

/** One for several that were thrown at once. */
export function mergeSuspended(all: readonly RunSuspended[]): RunSuspended {
  const times = all.flatMap(({ until }) => until ?? []);
  return new RunSuspended({
    until: times.length === 0 ? undefined : Math.min(...times),
    waitsForCalls: all.some(({ waitsForCalls }) => waitsForCalls),
  });
}
