import type { Fault } from '../errors.ts';
import type { PendingNotice } from './approval.ts';

/** A run whose process was killed stays `running` until it is resumed; one that is `queued` waits for a worker to begin it. */
export type RunStatus = 'queued' | 'running' | 'pending' | 'completed' | 'failed' | 'denied' | 'cancelled';

/** The result of one step in a run document. */
export interface StepDocument {
  /** Path of the step: ids joined with `/`, positions in brackets, as in `orders[2]/refund`. */
  readonly step: string;
  readonly kind: 'tool' | 'eval' | 'chat' | 'parallel' | 'steps' | 'for_each';
  readonly status: 'ok' | 'failed' | 'denied' | 'skipped' | 'pending';
  readonly duration_ms: number;
  /** Hooks that failed open by the rules of their dialects. */
  readonly failed_open?: readonly { readonly hook: string; readonly cause: string }[];
  readonly error?: Fault;
}

/** The result of a run, as `run --json` prints it. */
export interface RunDocument {
  readonly run_id: string;
  readonly status: 'completed' | 'failed' | 'denied' | 'pending' | 'cancelled';
  /** Null unless completed. */
  readonly output: unknown;
  /** Open pendings, in the order of their calls. */
  readonly pending: readonly PendingNotice[];
  /** Those that have ended, in the order in which they did, a group after its steps; then those that wait. */
  readonly steps: readonly StepDocument[];
  /** What stopped the run; of a cancelled one, who cancelled it and why. */
  readonly error?: Fault;
}

/** A run as `runs list --json` prints it. Times are ISO 8601. */
export interface RunInfo {
  readonly run_id: string;
  /** `pipeline`, or `tool` for a single call that went pending. */
  readonly kind: 'pipeline' | 'tool';
  /** The pipeline's or the tool's name. */
  readonly name: string;
  readonly file: string | null;
  readonly status: RunStatus;
  readonly created_at: string;
  readonly updated_at: string;
  /** Open pendings. */
  readonly pending: number;
  /** It is to be worked on, and no worker that is there has its pipeline, config and scripts. */
  readonly lacks_worker?: true;
}

/** One line of a run's timeline. Times are ISO 8601. */
export interface TimelineEntry {
  readonly at: string;
  readonly what: 'started' | 'step began' | 'step ended' | 'pending' | 'decided' | 'ended';
  readonly step: string | null;
  readonly detail: string;
}

/** A run as `runs show --json` prints it. */
export interface RunDetails extends RunInfo {
  readonly input: unknown;
  readonly output: unknown;
  readonly error: Fault | null;
  readonly pendings: readonly PendingNotice[];
  readonly timeline: readonly TimelineEntry[];
}
