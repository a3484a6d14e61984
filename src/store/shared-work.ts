import type { Row } from './sqlite/row.ts';

/** Everything that is asked for in it happens, or nothing does. */
export interface Transaction {
  query(statement: { readonly text: string; readonly values?: readonly unknown[] }): Promise<Row[]>;
  /** Does the work when the transaction has been committed; whatever becomes of it changes nothing. */
  afterCommit(work: () => Promise<unknown>): void;
}

/** A piece of work for one of many workers. It is a hint: it may be lost, come late, or come twice. */
export interface Job {
  /** Who has it takes the job: a build. */
  readonly queue: string;
  readonly kind: 'run' | 'chunk';
  /** Tells it from others of its kind; at most one of an id waits at a time. */
  readonly id: string;
}

/** Tells workers of jobs in the transaction of the change. Whether it did; never rejects. */
export type Announce = (jobs: readonly Job[], transaction: Transaction) => Promise<boolean>;

export interface WorkerRecord {
  readonly id: string;
  readonly machine: string;
  readonly pid: number;
  readonly version: string;
  /** How many jobs it does at once, and how many it does now. */
  readonly concurrency: number;
  readonly busy: number;
  readonly builds: readonly string[];
  readonly isDraining: boolean;
}

/** A worker as it is known, and when it began and was last heard of; ms since 1970. */
export interface SeenWorker extends WorkerRecord {
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isLive: boolean;
}

export interface Swept {
  /** False: another worker sweeps just now. */
  readonly hasRun: boolean;
  readonly announced: number;
}

/** What a store of many machines has beside runs: which of them are to be worked on, and by whom. All reject with STORE_FAILED. */
export interface SharedWork {
  /** Does all of the work in one transaction; again when the connection is lost meanwhile. Rejects with what the work throws too. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Who is told of runs that were queued or whose last call was decided, from now on. */
  announceBy(announce: Announce): void;
  /**
   * Which of these runs are to be worked on; in that transaction, or one of its own. From then on they are the workers' until they
   * end, and the next sweep tells of those that nobody has claimed by then.
   */
  adopt(runIds: readonly string[], transaction?: Transaction): Promise<readonly string[]>;
  /** Tells of a run again, which a worker gives back. */
  giveBack(runId: string): Promise<void>;
  /** Expires what is due, ends sessions of holders that are not heard of, and tells of runs that wait for a worker and that nobody works on. */
  sweep(): Promise<Swept>;
  beat(worker: WorkerRecord): Promise<void>;
  leave(id: string): Promise<void>;
  /** Those that are there, the oldest first; not those that have been gone for long. */
  listWorkers(): Promise<SeenWorker[]>;
}
