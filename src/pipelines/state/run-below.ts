import type { Fault } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { object } from '../../base/json/record.ts';
import { number, text } from '../../base/json/shape.ts';
import type { Pipeline } from '../file/pipeline.ts';
import type { TransientFault } from '../suspend/transient-fault.ts';
import { plainRecord } from './record.ts';
import type { Scope } from './step-scope.ts';

/** A run that a step of another begins, or goes on with. */
export interface RequestedBelow {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly step: string;
  /** Of a run that is new; throws what stops the step. */
  readonly input: () => Json;
  /** Whether it may have begun before, and in which retry of the outermost run. */
  readonly known: { readonly retry: number } | undefined;
  /** Whether the step may have had other runs before it: those of earlier attempts. */
  readonly isRepeated: boolean;
  /** What ends its steps before their time, the clocks that stand still while a person is waited for, and which faults are handled above. */
  readonly scope: Pick<Scope, 'signal' | 'clocks' | 'handles'>;
}

export interface EndBelow {
  readonly status: 'completed' | 'failed' | 'denied';
  readonly output: Json | null;
  readonly error: Fault | null;
  /** The path of the innermost step that failed, in that run. */
  readonly failedAt: string | undefined;
  /** It has not ended: it was set down by this fault, which may be gone later. */
  readonly transient?: TransientFault | undefined;
}

/** Runs a pipeline as a step of a run. Throws RunSuspended, ABORTED, RUN_ENDED, STORE_FAILED. */
export type RunBelow<Run> = (run: Run, asked: RequestedBelow) => Promise<EndBelow>;

/** Which run an attempt at a step began, and in which retry of the outermost run. */
export const belowRecord = plainRecord('run of a pipeline', object({ run_id: text, retry: number }));

/** The name of that record. */
export function belowName(path: string): string {
  return `${path}/run`;
}
