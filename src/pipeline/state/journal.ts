import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { Json } from '../../json/json.ts';

/**
 * What a run has come to, kept where a crash cannot reach it. A run is carried on by running it again: what
 * is journaled is not done a second time. That is all an engine for durable execution has to offer.
 */
export interface Journal {
  readonly runId: string;
  /** The outcome that stands under a name, if there is one. */
  find(name: string): Json | undefined;
  /** Throws what `step` would throw before the work under this name is begun, where that can be known; absent: nothing. */
  requireWanted?(name: string): void;
  /** Whether work under this name was begun, before this execution of the run, and never ended. */
  wasCutOff(name: string): boolean;
  /**
   * The outcome that stands under `name`; without one, that of `work`, once it is durable. A name stands for
   * one piece of work of the run and may hold others (`answer` holds `answer/round-1`). What `work` throws
   * leaves the step open, to be done again. Throws STORE_FAILED.
   */
  step(name: string, work: (entry: StepEntry) => Promise<Json>, options?: StepOptions): Promise<Json>;
  /**
   * Waits until all these calls are decided, and gives them back with their rulings, in order. They are
   * durable before anybody is told of them; `tell` is told of each that is not decided yet. Throws RunPaused where
   * the wait outlasts this process, and STORE_FAILED.
   */
  decide(
    calls: readonly PendingCall[],
    tell?: (pending: PendingRecord) => Promise<void>,
  ): Promise<readonly Ruled[]>;
}

export interface StepEntry {
  /** How often this work was begun, from 1: more than once means that it was cut off. */
  readonly attempt: number;
}

export interface StepOptions {
  /** Its work is only other steps, which may be begun again at will, so that it began need not be kept. */
  readonly holdsSteps?: boolean;
}

/** A pending call that has been decided. */
export type Ruled = PendingRecord & { readonly ruling: NonNullable<PendingRecord['ruling']> };

/** Thrown through a run to set it down until somebody has decided. */
export class RunPaused extends Error {
  override readonly name = 'RunPaused';

  constructor() {
    super('the run waits for a person');
  }
}
