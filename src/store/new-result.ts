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
