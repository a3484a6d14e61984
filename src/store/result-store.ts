import type { Announce } from './shared-work.ts';
import type { Claim } from './store.ts';

/**
 * The results of suite runs, and answers that may be used again. What a promise has resolved for survives the end of this
 * process, however it ends; in a file it need not survive a loss of power. Every method rejects with STORE_FAILED. Calls take
 * effect in the order in which they were made. Texts are JSON that the store does not read.
 */
export interface ResultStore {
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

  /** Keeps a rating in the place of the one that the same person gave before. Rejects where there is no such run. */
  keepRating(runId: string, rating: KeptRating): Promise<void>;
  /** False when there was none. */
  removeRating(runId: string, place: RatingPlace): Promise<boolean>;
  /** Those of a run, or of one of its cases, in an order that stays the same, read lazily; without their `variant`. */
  ratings(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<KeptRating>;

  /**
   * Keeps how the run stands, moves the records of these numbers to the replaced ones, and marks the run as running: all of it or
   * nothing. Does nothing when the run has this reopening already. Rejects when there is no such run.
   */
  reopenRun(runId: string, reopening: NewReopening, numbers: readonly number[]): Promise<void>;
  reopenings(runId: string): Promise<Reopening[]>;
  /** All records that were replaced, by reopening, number and epoch, the older first; read lazily. */
  replaced(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<ReplacedResult>;

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

interface ResultRunFilter {
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

export interface NewResult {
  readonly runId: string;
  /** The number of the row, from 1. */
  readonly number: number;
  readonly epoch: number;
  readonly caseId: string;
  /** Of what was judged: a record of another digest is of no use. */
  readonly digest: string;
  readonly text: string;
}

export interface StoredResult extends Omit<NewResult, 'runId'> {}

/** Which rating: there is one of each person for each case, and for each eval of it; in a matrix of each variant of these. */
export interface RatingPlace {
  readonly caseId: string;
  /** The eval that is rated; empty for the case as a whole. */
  readonly eval: string;
  readonly by: string;
  /** Absent outside a matrix. It tells ratings apart; which one it was is read from their texts. */
  readonly variant?: string | undefined;
}

/** A person's rating of a case; `text` is JSON that the store does not read. */
export interface KeptRating extends RatingPlace {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/** Why a run goes on after its end, and which of its records were replaced then. */
interface NewReopening {
  /** From 1, in the order in which a run was reopened. */
  readonly number: number;
  /** Which cases were judged again, in the caller's words. */
  readonly scope: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Reopening extends NewReopening {
  /** How the run stood until then. */
  readonly status: string;
  readonly report: string | null;
}

/** A record that another has replaced, after the reopening of that number; 0: before any. */
export interface ReplacedResult extends StoredResult {
  readonly reopening: number;
}

/** A part of a dataset that one worker judges at a time. Texts are JSON that the store does not read. */
export interface NewChunk {
  /** From 1, in the order of the dataset. */
  readonly number: number;
  /** How many rows it has, as far as that is known without reading it as rows. */
  readonly rows: number;
  readonly place: string;
}

export interface ChunkProgress {
  readonly chunks: number;
  readonly done: number;
  /** Of the chunks that are done, and of all that are known. */
  readonly doneRows: number;
  readonly rows: number;
  /** The chunk that has failed most often, and why it did the last time. */
  readonly worst:
    | { readonly number: number; readonly failures: number; readonly failure: string }
    | undefined;
}

export interface ChunkClaim extends Claim {
  readonly place: string;
  /** What all chunks of the run are judged with. */
  readonly work: string;
  /** Keeps the results and the tally together, or, when the claim is lost, nothing: false then. */
  end(records: readonly NewResult[], tally: string): Promise<boolean>;
  /** Counts a failure, in words, of whoever tried. */
  fail(failure: string): Promise<void>;
}

/** Runs of suites that many workers share. All reject with STORE_FAILED. */
export interface SuiteChunks {
  /** Who is told of chunks, from now on. */
  announceBy(announce: Announce): void;
  /** Makes the run one of workers with that build, if it is none yet. */
  share(runId: string, shared: { readonly build: string; readonly work: string }): Promise<void>;
  /** Adds chunks, those that are there already left as they are, and tells workers of them. */
  add(runId: string, chunks: readonly NewChunk[]): Promise<void>;
  progress(runId: string): Promise<ChunkProgress>;
  /** Tells workers again of chunks on which nobody works; how many. */
  announceIdle(runId: string): Promise<number>;
  /** The tallies of the chunks that are done, read lazily. */
  tallies(runId: string): AsyncIterable<string>;
  /** Undefined when it is done, held by another, of a run that does not go on, or not there. */
  claim(runId: string, number: number): Promise<ChunkClaim | undefined>;
}
