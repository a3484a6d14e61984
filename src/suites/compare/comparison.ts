import type { Role } from '../file/model.ts';
import type { Classification, Latency } from '../record.ts';
import type { PairedDifference } from '../run/stats-record.ts';

// The comparison of two runs, or of two parts of one run, as plain JSON. A is the old side, B the new side.

export interface Comparison {
  readonly a: SideInfo;
  readonly b: SideInfo;
  /** The comparison of whole cases. Null if one eval was compared with another, and for shadows. */
  readonly cases: Difference | null;
  /** In the order of A. */
  readonly evals: readonly EvalDifference[];
  /** Evals that only this side has. */
  readonly evals_only_in_a: readonly string[];
  readonly evals_only_in_b: readonly string[];
}

export interface SideInfo {
  readonly run_id: string;
  /** Present if the sides are decisions of hooks in shadow mode instead of suite runs. */
  readonly kind?: 'shadow';
  readonly suite: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Set if only cases with this tag were compared. */
  readonly tag?: string;
  /** Set if only the results of this eval were compared. */
  readonly eval?: string;
  /** The number of cases on this side, with or without a counterpart. */
  readonly cases: number;
  /** False if the run did not finish. Always true for a shadow, which has no end. */
  readonly is_complete: boolean;
}

export interface EvalDifference extends Difference {
  /** The ids of the eval on both sides. */
  readonly eval_a: string;
  readonly eval_b: string;
  readonly role: Role;
  /** Only for guards, over the paired decisions. */
  readonly classification?: { readonly a: ComparedClassification; readonly b: ComparedClassification };
  /** Only for guards, over the paired decisions. */
  readonly decisions?: { readonly a: Decisions; readonly b: Decisions };
}

/** The number of each decision of a guard, and the time that its hooks took. */
export interface Decisions {
  readonly allow: number;
  readonly modify: number;
  readonly deny: number;
  readonly ask: number;
  readonly respond: number;
  readonly abort: number;
  /** Events without a decision; not included in the other counts. */
  readonly failed: number;
  readonly latency_ms: Latency | null;
}

export type ComparedClassification = Omit<Classification, 'latency_ms' | 'roc'>;

/** The difference over all pairs of cases, with the cases whose verdict changed. */
export interface Difference extends PairedDifference {
  /** The first 50, in the order of B. */
  readonly first_regressions: readonly Change[];
  readonly first_improvements: readonly Change[];
}

export interface Change {
  readonly case: string;
  /** The beginning of what the case asks: the last user message or a field of the row. Absent if neither is known. */
  readonly question?: string;
  readonly a: SideResult;
  readonly b: SideResult;
}

export interface SideResult {
  /** The row number in the dataset, from 1. */
  readonly number: number;
  readonly file: string;
  readonly line: number;
  /** Null if unscored. */
  readonly score: number | null;
  readonly detail: string;
}
