import type { Row } from './sqlite/row.ts';

export interface Transaction {
  query(statement: { readonly text: string; readonly values?: readonly unknown[] }): Promise<Row[]>;
  /** Runs after the commit; errors are ignored. */
  afterCommit(work: () => Promise<unknown>): void;
}

/** Work for one of many workers. A job is only a hint: it may be lost, late, or repeated. */
export interface Job {
  readonly queue: string;
  readonly kind: 'run' | 'chunk';
  /** Unique within its kind; at most one job with an ID waits. */
  readonly id: string;
}

/** Announces jobs in the transaction of the change. Resolves to whether it did; never rejects. */
export type Announce = (jobs: readonly Job[], transaction: Transaction) => Promise<boolean>;

export interface WorkerRecord {
  readonly id: string;
  readonly machine: string;
  readonly pid: number;
  readonly version: string;
  readonly concurrency: number;
  readonly busy: number;
  readonly builds: readonly string[];
  readonly isDraining: boolean;
}

export interface SeenWorker extends WorkerRecord {
  readonly startedAt: number;
  readonly seenAt: number;
  readonly isLive: boolean;
}

export interface Swept {
  /** False: another worker is sweeping. */
  readonly hasRun: boolean;
  readonly announced: number;
}

/** Work for workers of a shared store. All methods reject with STORE_FAILED. */
export interface SharedWork {
  /** Runs the work in one transaction, again after a lost connection. Also rejects with the error of the work. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  announceBy(announce: Announce): void;
  /**
   * Returns which runs still need work, in the given transaction or a new one. Workers own these runs until they end.
   * The next sweep announces those without a claim.
   */
  adopt(runIds: readonly string[], transaction?: Transaction): Promise<readonly string[]>;
  giveBack(runId: string): Promise<void>;
  /** Expires due calls, ends sessions of silent holders, and announces waiting runs without a holder. */
  sweep(): Promise<Swept>;
  beat(worker: WorkerRecord): Promise<void>;
  leave(id: string): Promise<void>;
  /** Workers seen within the last hour, oldest first. */
  listWorkers(): Promise<SeenWorker[]>;
}
