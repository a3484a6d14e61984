import type { NewResult, StoredResult } from './new-result.ts';
import type { RatingStore } from './ratings/rating.ts';
import type { ReopeningStore } from './reopenings/reopening.ts';
import type { Claim } from './store.ts';
import type { SuiteChunks } from './suite-chunks.ts';

/**
 * The results of suite runs, and answers that may be used again. What a promise has resolved for survives the end of this
 * process, however it ends; in a file it need not survive a loss of power. Every method rejects with STORE_FAILED. Calls take
 * effect in the order in which they were made. Texts are JSON that the store does not read.
 */
export interface ResultStore extends RatingStore, ReopeningStore {
  /** The file or place of the store, for error messages. */
  readonly location: string;
  /** Rejects with STORE_FAILED when there is a run of this id. */
  createRun(run: NewResultRun): Promise<void>;
  findRun(id: string): Promise<ResultRun | undefined>;
  /** Newest first. */
  listRuns(filter?: ResultRunFilter): Promise<ResultRun[]>;
  /** Keeps the end of a run; a run that is resumed has no end again. */
  setRunEnd(id: string, end: { readonly status: RunEnd; readonly report: string | null }): Promise<void>;
  /** Claims the run for this process; undefined while another holds it. Released when its holder ends. */
  claimRun(id: string): Promise<Claim | undefined>;

  /** Keeps one record of a run; one that is there already with another text moves to the replaced ones. */
  put(record: NewResult): Promise<void>;
  /** Keeps several at once: all of them, or none. */
  putAll(records: readonly NewResult[]): Promise<void>;
  /**
   * Adds a record behind all others of the run, also with concurrent writers. False when there is no such
   * run.
   */
  append(record: Omit<NewResult, 'number'>): Promise<boolean>;
  /** `text` of a record; undefined when there is none. */
  get(runId: string, number: number, epoch: number): Promise<StoredResult | undefined>;
  /** All records of a run by number and epoch, read lazily. */
  records(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<StoredResult>;
  countRecords(runId: string): Promise<number>;

  /** An answer that was kept under this key. */
  findAnswer(key: string): Promise<string | undefined>;
  keepAnswer(key: string, text: string): Promise<void>;

  /** Removes runs that began before `before` (ms since 1970), and answers kept before it. Returns how many runs. */
  prune(before: number): Promise<number>;
  /** What a store of many machines has for suites that workers share; undefined for others. */
  readonly chunks?: SuiteChunks | undefined;

  /** Never rejects; may be called again. */
  close(): Promise<void>;
}

/** `shadow` collects what a hook in shadow mode would have decided. */
export type ResultKind = 'suite' | 'shadow';
export type RunEnd = 'running' | 'passed' | 'failed' | 'error' | 'interrupted';

export interface NewResultRun {
  readonly id: string;
  readonly kind: ResultKind;
  /** Of the suite, or of the hook. */
  readonly name: string;
  /** The suite file, absolute. */
  readonly file: string;
  /** What must be the same for a run to be resumed. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly header: string;
}

/** Which runs are listed. */
export interface ResultRunFilter {
  readonly name?: string | undefined;
  readonly kind?: ResultKind | undefined;
  readonly limit?: number | undefined;
  /** Only those behind the run of this id; none where it is not there. */
  readonly after?: string | undefined;
}

export interface ResultRun extends NewResultRun {
  readonly status: RunEnd;
  readonly report: string | null;
}
