import type { Fault } from '../../base/errors.ts';
import type { RunStatus } from '../../contract/run.ts';

export interface WorkerOptions {
  /** How many runs execute at once. Default: the number of cores. */
  readonly concurrency?: number | undefined;
  /** A glob pattern for pipeline files, relative to the config's folder. Default: `**\/*.pipeline.yaml`. */
  readonly pipelines?: string | undefined;
  /** A glob pattern for suite files, relative to the config's folder. Default: `**\/*.suite.yaml`. */
  readonly suites?: string | undefined;
  /** `HOST:PORT` that answers GET /healthz and /readyz; port 0 is any free port. Default: none. */
  readonly health?: string | undefined;
  /** The version of the calling program, for `workers list`. */
  readonly version?: string | undefined;
}

/** A process that executes runs. */
export interface Worker {
  readonly id: string;
  readonly concurrency: number;
  /**
   * The pipeline and suite files, absolute. `builds` has the digest of each with the config and its scripts, and one
   * for tool calls.
   */
  readonly pipelines: readonly string[];
  readonly suites: readonly string[];
  readonly builds: readonly string[];
  /** The URL of its health endpoints. */
  readonly health: string | null;
  /**
   * Takes no more runs, lets active ones continue for `ms` (default: 30 s), and returns the rest to other workers.
   * Never rejects.
   */
  drain(ms?: number): Promise<void>;
}

export interface WorkOptions {
  /** How many runs execute at once. Default: the number of cores. */
  readonly concurrency?: number | undefined;
  /** Ends when no run is due. Default: continues until `signal` is aborted. */
  readonly once?: boolean | undefined;
  /** When aborted, no more runs are taken. */
  readonly signal?: AbortSignal | undefined;
  /** How long active runs may continue then, before they are suspended. Default: 30 s. */
  readonly drainMs?: number | undefined;
  /** Called with the concurrency when it begins to look for runs. */
  readonly onReady?: ((concurrency: number) => void) | undefined;
  /** Called for each resumed run; must not throw. */
  readonly onRun?: ((run: WorkedRun) => void) | undefined;
  /** The version of the calling program, for `workers list`. */
  readonly version?: string | undefined;
}

/** The result of a resumed run. */
export interface WorkedRun {
  readonly run_id: string;
  /** `left`: the run could not be resumed and is unchanged. */
  readonly status: RunStatus | 'left';
  readonly duration_ms: number;
  readonly error?: Fault;
}

/** A worker as `workers list --json` prints it. Times are ISO 8601. */
export interface WorkerInfo {
  readonly id: string;
  readonly machine: string;
  readonly pid: number;
  /** The version of its Signalbox. */
  readonly version: string;
  readonly status: 'working' | 'draining' | 'silent';
  /** How many runs it can execute at once; `busy`: how many it executes now. */
  readonly concurrency: number;
  readonly busy: number;
  readonly builds: readonly string[];
  readonly started_at: string;
  readonly seen_at: string;
}

/** A run that waits for a worker. */
export interface QueuedRun {
  readonly run_id: string;
  /** `queued`; for an earlier run with the same ID, its current status. */
  readonly status: RunStatus;
}
