import type { Announce, Job, Transaction } from '../../store/shared-work.ts';

export type Handled = 'done' | { readonly retryMs: number };

/** Runs a job. A rejection retries the job; an aborted `signal` asks it to end soon. */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<Handled>;

/**
 * Returns the fetched jobs that still need work. It runs in the transaction of the fetch, if there is one, so that no
 * job is lost if the worker dies right after. May be called twice for a job.
 */
export type TakeJobs = (jobs: readonly Job[], transaction?: Transaction) => Promise<readonly Job[]>;

export interface WorkOptions {
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly take: TakeJobs;
  readonly report: (message: string) => void;
}

/**
 * Brings jobs to workers. Jobs are hints, the tables of the store are the truth. A sweep announces lost jobs again, and
 * a duplicate job finds its run claimed or ended.
 */
export interface Dispatcher {
  /** Tells workers of jobs, in the transaction of the change or after it. Resolves to whether it did; never rejects. */
  readonly announce: Announce;
  /** Starts to take jobs. Rejects with STORE_FAILED, or with the error of the queue. */
  work(handler: JobHandler, options: WorkOptions): Promise<Working>;
  close(): Promise<void>;
}

export interface Working {
  busy(): number;
  stop(): void;
  idle(): Promise<void>;
  abort(): void;
  close(): Promise<void>;
}
