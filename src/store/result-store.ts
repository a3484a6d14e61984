/**
 * The results of suite runs, and answers that may be used again. Writes are synchronous and survive the end of
 * this process, however it ends, but not a loss of power. Every method throws STORE_FAILED. Texts are JSON that the
 * store does not read.
 */
export interface ResultStore {
  /** The file or place of the store, for error messages. */
  readonly location: string;
  /** Throws STORE_FAILED when there is a run of this id. */
  createRun(run: NewResultRun): void;
  findRun(id: string): ResultRun | undefined;
  /** Newest first. */
  listRuns(filter?: {
    readonly name?: string | undefined;
    readonly kind?: ResultKind | undefined;
    readonly limit?: number | undefined;
  }): ResultRun[];
  /** Keeps the end of a run; a run that is resumed has no end again. */
  setRunEnd(id: string, end: { readonly status: RunEnd; readonly report: string | null }): void;
  /** Claims the run for this process; undefined while another holds it. Released when its holder ends. */
  claimRun(id: string): Promise<{ release(): Promise<void> } | undefined>;

  /** Keeps one record of a run; one that is there already is replaced. */
  put(record: NewResult): void;
  /** Keeps several at once: all of them, or none. */
  putAll(records: readonly NewResult[]): void;
  /**
   * Adds a record behind all others of the run, also with concurrent writers. False when there is no such
   * run.
   */
  append(record: Omit<NewResult, 'number'>): boolean;
  /** `text` of a record; undefined when there is none. */
  get(runId: string, number: number, epoch: number): StoredResult | undefined;
  /** All records of a run by number and epoch, read lazily. */
  records(runId: string, filter?: { readonly caseId?: string | undefined }): Iterable<StoredResult>;
  countRecords(runId: string): number;

  /** An answer that was kept under this key. */
  findAnswer(key: string): string | undefined;
  keepAnswer(key: string, text: string): void;

  /** Removes runs that began before `before` (ms since 1970), and answers kept before it. Returns how many runs. */
  prune(before: number): number;
  close(): void;
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

export interface ResultRun extends NewResultRun {
  readonly status: RunEnd;
  readonly report: string | null;
}

export interface NewResult {
  readonly runId: string;
  /** The number of the row, from 1. */
  readonly number: number;
  /** From 1. */
  readonly epoch: number;
  readonly caseId: string;
  /** Of what was judged: a record of another digest is of no use. */
  readonly digest: string;
  readonly text: string;
}

export interface StoredResult extends Omit<NewResult, 'runId'> {}
