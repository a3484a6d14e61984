import type { Fault } from '../../base/errors.ts';
import type { RunStatus } from '../../contract/run.ts';

export interface WorkerOptions {
  /** Runs at once. Default: the number of cores. */
  readonly concurrency?: number | undefined;
  /** A glob pattern of pipeline files, as seen from the config's folder. Default: `**\/*.pipeline.yaml`. */
  readonly pipelines?: string | undefined;
  /** The same of suite files. Default: `**\/*.suite.yaml`. */
  readonly suites?: string | undefined;
  /** `HOST:PORT` on which GET /healthz and /readyz are answered; port 0 is any free one. Default: nowhere. */
  readonly health?: string | undefined;
  /** Of the program that works, for `workers list`. */
  readonly version?: string | undefined;
}

/** A process that goes on with runs. */
export interface Worker {
  readonly id: string;
  readonly concurrency: number;
  /** The pipeline and suite files, absolute, and the digests of each with the config and its scripts; one more is for tool calls. */
  readonly pipelines: readonly string[];
  readonly suites: readonly string[];
  readonly builds: readonly string[];
  /** Where its health is served. */
  readonly health: string | null;
  /** Takes no further runs, lets those under way go on for so long (default: 30 s), and gives the rest back to other workers. Never rejects. */
  drain(ms?: number): Promise<void>;
}

export interface WorkOptions {
  /** Runs at once. Default: the number of cores. */
  readonly concurrency?: number | undefined;
  /** Ends when no run is due any more. Default: it goes on until `signal`. */
  readonly once?: boolean | undefined;
  /** When aborted, no further run is taken. */
  readonly signal?: AbortSignal | undefined;
  /** How long runs may go on then, before they are set down. Default: 30 s. */
  readonly drainMs?: number | undefined;
  /** Called with the number of runs at once when it begins to look for them. */
  readonly onReady?: ((concurrency: number) => void) | undefined;
  /** Called for each run that was gone on with; must not throw. */
  readonly onRun?: ((run: WorkedRun) => void) | undefined;
  /** Of the program that works, for `workers list`. */
  readonly version?: string | undefined;
}

/** What has become of a run that was gone on with. */
export interface WorkedRun {
  readonly run_id: string;
  /** `left`: it could not be gone on with, and is as it was. */
  readonly status: RunStatus | 'left';
  readonly duration_ms: number;
  readonly error?: Fault;
}

/** A worker as `workers list --json` prints it. Times are ISO 8601. */
export interface WorkerInfo {
  readonly id: string;
  readonly machine: string;
  readonly pid: number;
  /** Of its Signalbox. */
  readonly version: string;
  readonly status: 'working' | 'draining' | 'silent';
  /** Runs that it executes at once, and now. */
  readonly concurrency: number;
  readonly busy: number;
  readonly builds: readonly string[];
  readonly started_at: string;
  readonly seen_at: string;
}

/** A run that waits for a worker. */
export interface QueuedRun {
  readonly run_id: string;
  /** `queued`; where it was started before under the same id, what it is now. */
  readonly status: RunStatus;
}
