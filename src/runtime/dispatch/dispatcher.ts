import type { Announce, Job, Transaction } from '../../store/shared-work.ts';

/** What became of a job: it is done, or is to be tried again. */
export type Handled = 'done' | { readonly retryMs: number };

/** Does a job. A rejection is a job to be tried again; `signal` asks for an end as soon as may be. */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<Handled>;

/**
 * Which of the jobs that were fetched are still to be done; in the transaction in which they were fetched, if there is one, so that
 * nothing is lost with a worker that dies right behind it. May be called twice for a job.
 */
export type TakeJobs = (jobs: readonly Job[], transaction?: Transaction) => Promise<readonly Job[]>;

export interface WorkOptions {
  /** Jobs of these only. */
  readonly queues: readonly string[];
  /** Jobs at once. */
  readonly concurrency: number;
  readonly take: TakeJobs;
  /** Gets what goes wrong between this process and the queue, in words; the work goes on. */
  readonly report: (message: string) => void;
}

/**
 * Brings jobs to workers. A job is a hint, and the tables of the store are the truth: one that is lost is announced again by a
 * sweep, and one that comes twice finds its run claimed or ended.
 */
export interface Dispatcher {
  /** Tells workers of jobs, in the transaction of the change or behind it. Whether it did; never rejects. */
  readonly announce: Announce;
  /** Takes jobs from now on. Rejects with STORE_FAILED, and what else the queue cannot begin with. */
  work(handler: JobHandler, options: WorkOptions): Promise<Working>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Jobs that are being taken. */
export interface Working {
  /** How many jobs are under way. */
  busy(): number;
  /** Takes no further ones. */
  stop(): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
  /** Asks those under way for their end. */
  abort(): void;
  /** Lets go of the queue. Never rejects. */
  close(): Promise<void>;
}
