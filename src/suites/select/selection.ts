import type { Row } from '../dataset/row.ts';

/** Which cases of a dataset run; without any member, all of them. */
export interface Selection {
  /** CEL over `case`, the row; gives true or false. */
  readonly filter?: string;
  /** Cases that have any of them. */
  readonly tags?: readonly string[];
  /** That many cases by chance, the same ones for the same seed. */
  readonly sample?: { readonly size: number; readonly seed: number };
  /** One of `count` parts, by the ids of the cases; `index` is from 1. */
  readonly shard?: { readonly index: number; readonly count: number };
  readonly maxCases?: number;
  /** The rows of these numbers alone, from 1, of what the other parts pick. */
  readonly rows?: readonly number[];
}

/** A row as a case that may run, or why it cannot be used. */
export type Candidate = CaseCandidate | ProblemCandidate;

export interface CaseCandidate {
  readonly row: Row;
  readonly id: string;
  readonly tags: readonly string[];
  /** The row's object. */
  readonly value: Readonly<Record<string, unknown>>;
}

interface ProblemCandidate {
  readonly row: Row;
  readonly problem: { readonly message: string; readonly hint?: string };
}

/** Takes some candidates of many, in their order; closes the source when it needs no more. */
export type SelectionStage = (candidates: AsyncIterable<Candidate>) => AsyncIterable<Candidate>;
