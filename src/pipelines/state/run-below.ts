import type { Fault } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { object } from '../../base/json/record.ts';
import { number, text } from '../../base/json/shape.ts';
import type { Pipeline } from '../file/pipeline.ts';
import type { TransientFault } from '../suspend/transient-fault.ts';
import { plainRecord } from './record.ts';
import type { Scope } from './step-scope.ts';

export interface RequestedBelow {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly step: string;
  /** Called for a new run only; throws the error that stops the step. */
  readonly input: () => Json;
  /** Present if the run may already exist, with the outermost run's retry in which it began. */
  readonly known: { readonly retry: number } | undefined;
  /** Whether earlier attempts at the step may have had other runs. */
  readonly isRepeated: boolean;
  /** The parent step's signal, its clocks, and the faults that it handles. */
  readonly scope: Pick<Scope, 'signal' | 'clocks' | 'handles'>;
}

export interface EndBelow {
  readonly status: 'completed' | 'failed' | 'denied';
  readonly output: Json | null;
  readonly error: Fault | null;
  readonly failedAt: string | undefined;
  /** Present if this transient fault suspended the run. */
  readonly transient?: TransientFault | undefined;
}

/** Throws RunSuspended, ABORTED, RUN_ENDED, STORE_FAILED. */
export type RunBelow<Run> = (run: Run, asked: RequestedBelow) => Promise<EndBelow>;

export const belowRecord = plainRecord('run of a pipeline', object({ run_id: text, retry: number }));

export function belowName(path: string): string {
  return `${path}/run`;
}
