import type { ChangeSource } from './changes.ts';
import type { Announce } from './shared-work.ts';
import type { Claim } from './store.ts';

/**
 * Results of suite runs, and cached answers. A resolved change survives the end of this process; in a file it may be
 * lost with the power. All methods reject with STORE_FAILED. Calls take effect in order. Texts are JSON that the store
 * does not read.
 */
export interface ResultStore {
  readonly location: string;
  /** Absent if the state store reports them. */
  readonly changes?: ChangeSource;
  /** Rejects with STORE_FAILED if a run has this ID. */
  createRun(run: NewResultRun): Promise<void>;
  findRun(id: string): Promise<ResultRun | undefined>;
  /** Newest first. */
  listRuns(filter?: ResultRunFilter): Promise<ResultRun[]>;
  /** Stores the end of a run. A resumed run has no end. */
  setRunEnd(id: string, end: { readonly status: RunEnd; readonly report: string | null }): Promise<void>;
  /** Claims the run for this process; undefined if another holds it. The claim ends with its holder. */
  claimRun(id: string): Promise<Claim | undefined>;

  /** Stores a record of a run. An existing record with another text moves to the replaced ones. */
  put(record: NewResult): Promise<void>;
  /** Stores all records or none. */
  putAll(records: readonly NewResult[]): Promise<void>;
  /** Appends a record to the run, also with concurrent writers. False if there is no such run. */
  append(record: Omit<NewResult, 'number'>): Promise<boolean>;
  /** Undefined if there is no such record. */
  get(runId: string, number: number, epoch: number): Promise<StoredResult | undefined>;
  /** All records of a run by number and epoch, read lazily. */
  records(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<StoredResult>;
  countRecords(runId: string): Promise<number>;

  /** Stores a rating and replaces the earlier one of the same person. Rejects if there is no such run. */
  keepRating(runId: string, rating: KeptRating): Promise<void>;
  /** False if there is no such rating. */
  removeRating(runId: string, place: RatingPlace): Promise<boolean>;
  /** The ratings of a run, or of one case, in a stable order, read lazily; without their `variant`. */
  ratings(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<KeptRating>;

  /**
   * In one transaction: stores the status and report of the run, moves these records to the replaced ones, and marks
   * the run as running. Does nothing if the run has this reopening. Rejects if there is no such run.
   */
  reopenRun(runId: string, reopening: NewReopening, numbers: readonly number[]): Promise<void>;
  reopenings(runId: string): Promise<Reopening[]>;
  /** All replaced records by reopening, number and epoch, older first; read lazily. */
  replaced(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<ReplacedResult>;

  findAnswer(key: string): Promise<string | undefined>;
  keepAnswer(key: string, text: string): Promise<void>;

  /** Removes runs and cached answers older than `before` (ms since 1970). Returns the number of runs. */
  prune(before: number): Promise<number>;
  /** Suites that workers share; undefined if the store does not support workers. */
  readonly chunks?: SuiteChunks | undefined;

  /** Never rejects; may be called again. */
  close(): Promise<void>;
}

/** `shadow`: the decisions of a hook in shadow mode. */
export type ResultKind = 'suite' | 'shadow';
export type RunEnd = 'running' | 'passed' | 'failed' | 'error' | 'interrupted';

export interface NewResultRun {
  readonly id: string;
  readonly kind: ResultKind;
  readonly name: string;
  readonly file: string;
  /** Must be equal for a run to be resumed. */
  readonly fingerprint: string;
  readonly createdAt: number;
  readonly header: string;
}

interface ResultRunFilter {
  readonly name?: string | undefined;
  readonly kind?: ResultKind | undefined;
  readonly limit?: number | undefined;
  /** Only runs after the run with this ID; none if it does not exist. */
  readonly after?: string | undefined;
}

export interface ResultRun extends NewResultRun {
  readonly status: RunEnd;
  readonly report: string | null;
}

export interface NewResult {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
  readonly caseId: string;
  /** A digest of what was judged; a record with another digest is not reused. */
  readonly digest: string;
  readonly text: string;
}

export interface StoredResult extends Omit<NewResult, 'runId'> {}

/** Identifies a rating: one per person, case and eval, and per variant in a matrix. */
export interface RatingPlace {
  readonly caseId: string;
  /** The rated eval; empty for the whole case. */
  readonly eval: string;
  readonly by: string;
  /** Absent outside a matrix. Only distinguishes ratings; the variant itself is in their text. */
  readonly variant?: string | undefined;
}

export interface KeptRating extends RatingPlace {
  readonly at: number;
  readonly text: string;
}

interface NewReopening {
  /** From 1, in order. */
  readonly number: number;
  /** Which cases were judged again, in the caller's words. */
  readonly scope: string;
  readonly at: number;
}

export interface Reopening extends NewReopening {
  readonly status: string;
  readonly report: string | null;
}

/** A record that was replaced after the reopening with this number; 0: before any. */
export interface ReplacedResult extends StoredResult {
  readonly reopening: number;
}

/** A part of a dataset that one worker judges at a time. Texts are JSON that the store does not read. */
export interface NewChunk {
  readonly number: number;
  /** The number of rows, as far as it is known without parsing them. */
  readonly rows: number;
  readonly place: string;
}

export interface ChunkProgress {
  readonly chunks: number;
  readonly done: number;
  readonly doneRows: number;
  readonly rows: number;
  /** The chunk with the most failures, and its last failure. */
  readonly worst:
    | { readonly number: number; readonly failures: number; readonly failure: string }
    | undefined;
}

export interface ChunkClaim extends Claim {
  readonly place: string;
  readonly work: string;
  /** Stores results and tally together. Returns false and stores nothing if the claim is lost. */
  end(records: readonly NewResult[], tally: string): Promise<boolean>;
  fail(failure: string): Promise<void>;
}

/** Suite runs that workers share. All methods reject with STORE_FAILED. */
export interface SuiteChunks {
  announceBy(announce: Announce): void;
  share(runId: string, shared: { readonly build: string; readonly work: string }): Promise<void>;
  /** Adds chunks that do not exist yet, and announces them. */
  add(runId: string, chunks: readonly NewChunk[]): Promise<void>;
  progress(runId: string): Promise<ChunkProgress>;
  /** Announces chunks again on which nobody works. Returns their number. */
  announceIdle(runId: string): Promise<number>;
  /** The tallies of finished chunks, read lazily. */
  tallies(runId: string): AsyncIterable<string>;
  /** Undefined if the chunk is done, claimed, missing, or of a run that does not continue. */
  claim(runId: string, number: number): Promise<ChunkClaim | undefined>;
}
