import type { Role } from '../file/model.ts';
import type { Classification, Latency } from '../record.ts';
import type { PairedDifference } from '../run/stats-record.ts';

// The comparison of two runs, or of two sides of one, as plain JSON values. A is the old side, B the new
// one.

export interface Comparison {
  readonly a: SideInfo;
  readonly b: SideInfo;
  /** The cases as wholes; null when one eval was compared with another, and of shadows. */
  readonly cases: Difference | null;
  /** In the order of A. */
  readonly evals: readonly EvalDifference[];
  /** Evals that the other side does not have. */
  readonly evals_only_in_a: readonly string[];
  readonly evals_only_in_b: readonly string[];
}

export interface SideInfo {
  readonly run_id: string;
  /** What a hook in shadow mode would have decided, rather than a run of a suite. */
  readonly kind?: 'shadow';
  readonly suite: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Only its cases were compared. */
  readonly tag?: string;
  /** Only its results were compared. */
  readonly eval?: string;
  /** How many cases were compared or looked for on the other side. */
  readonly cases: number;
  /** False of a run that did not come to its end; a shadow has none. */
  readonly is_complete: boolean;
}

export interface EvalDifference extends Difference {
  /** The eval's id on both sides. */
  readonly eval_a: string;
  readonly eval_b: string;
  readonly role: Role;
  /** Only of guards: over the decisions of the pairs. */
  readonly classification?: { readonly a: ComparedClassification; readonly b: ComparedClassification };
  /** Likewise. */
  readonly decisions?: { readonly a: Decisions; readonly b: Decisions };
}

/** How often a guard gave each answer, and how long its hooks took together. */
export interface Decisions {
  readonly allow: number;
  readonly modify: number;
  readonly deny: number;
  readonly ask: number;
  readonly respond: number;
  readonly abort: number;
  /** It gave no answer; not among the others. */
  readonly failed: number;
  readonly latency_ms: Latency | null;
}

export type ComparedClassification = Omit<Classification, 'latency_ms' | 'roc'>;

/** The difference over all pairs of cases, with those whose verdicts changed. */
export interface Difference extends PairedDifference {
  /** The first 50, in the order of B. */
  readonly first_regressions: readonly Change[];
  readonly first_improvements: readonly Change[];
}

/** A case whose verdict changed. */
export interface Change {
  readonly case: string;
  /** What the case asks, its beginning: the last message of a user, or what its row says; absent where neither is known. */
  readonly question?: string;
  readonly a: SideResult;
  readonly b: SideResult;
}

export interface SideResult {
  /** Of its row in the dataset, from 1. */
  readonly number: number;
  readonly file: string;
  readonly line: number;
  /** Null when unscored. */
  readonly score: number | null;
  readonly detail: string;
}
