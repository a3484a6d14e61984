import type { EvalOutcome, EvalRequest, Threshold } from '../contract/eval.ts';
import type { Expression } from '../expression.ts';

/** What a failed result means: assertions and guardrails fail the suite, metrics are only recorded. */
export type Role = 'assertion' | 'guardrail' | 'metric';

/** One EvalSuite file, read and checked; its expressions see the row as `case`. */
export interface Suite {
  /** As the user gave it. */
  readonly file: string;
  readonly name: string;
  /** The RuntimeConfig that `spec.runtime` names, relative to the current folder. */
  readonly runtime?: string;
  readonly dataset: Dataset;
  /** A row to `{id, content, context, tags}`, each of them optional and still unchecked. */
  readonly mapping: Expression;
  readonly evals: readonly SuiteEval[];
  readonly gates: readonly Gate[];
}

export type Dataset =
  /** JSON Lines; `-` is stdin. Relative to the current folder. */
  | { readonly kind: 'file'; readonly path: string }
  /** Rows in the suite file itself. */
  | { readonly kind: 'inline'; readonly file: string; readonly rows: readonly InlineRow[] };

export interface InlineRow {
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface SuiteEval {
  readonly id: string;
  readonly type: string;
  readonly role: Role;
  readonly threshold: Threshold;
  readonly params: Expression;
  /** Judged in place of the case's content. */
  readonly content?: Expression;
}

export type GateMetric = 'pass_rate' | 'mean';

/** Inclusive bounds, at least one of them, on what an eval came to over all cases or those of one tag. */
export interface Gate {
  readonly eval: string;
  readonly metric: GateMetric;
  readonly tag?: string;
  readonly min?: number;
  readonly max?: number;
}

/** One request of one case, as it is handed to whoever scores it. */
export interface Evaluation {
  readonly id: string;
  readonly type: string;
  readonly threshold: Threshold;
  readonly request: EvalRequest;
}

export interface Verdict {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
}

/** One result of a run. */
export interface SuiteResult extends Verdict {
  readonly case: string;
  readonly file: string;
  readonly line: number;
  readonly tags: readonly string[];
  readonly eval: string;
  readonly role: Role;
}

/** How far a run is. `evals` counts results; `failed` those assertions and guardrails that did not pass. */
export interface SuiteProgress {
  readonly cases: number;
  readonly evals: number;
  readonly failed: number;
  readonly unscored: number;
}

/** What the results of one eval came to. `pass_rate` is of all results, `mean` of the scored ones. */
export interface Stats {
  readonly count: number;
  readonly scored: number;
  readonly unscored: number;
  readonly passed: number;
  /** 0..1; null when there was no result. */
  readonly pass_rate: number | null;
  /** 0..1; null when nothing was scored. */
  readonly mean: number | null;
}

/** Tags in alphabetical order. */
export interface EvalStats extends Stats {
  readonly tags: Readonly<Record<string, Stats>>;
}

export interface GateResult {
  readonly eval: string;
  readonly metric: GateMetric;
  /** Only there when the gate has one. */
  readonly tag?: string;
  readonly value: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly passed: boolean;
}

/** A row that could not be used; `file` and `line` are those of the row. */
export interface RowProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/** An assertion or a guardrail that did not pass. */
export interface Failure {
  readonly case: string;
  readonly file: string;
  readonly line: number;
  readonly eval: string;
  /** Null when unscored. */
  readonly score: number | null;
  /** The eval's own detail, or why there is no score. */
  readonly detail: string;
}

/** What a run of a suite came to: the same for every window and every order in which results came in. */
export interface SuiteReport {
  readonly run_id: string;
  readonly suite: string;
  readonly status: 'passed' | 'failed' | 'error';
  /** Cases that ran; rows that could not be used are not among them. */
  readonly cases: number;
  readonly evals: Readonly<Record<string, EvalStats>>;
  readonly gates: readonly GateResult[];
  readonly duration_ms: number;
  /** The first 20, in the order of the dataset. */
  readonly problems: readonly RowProblem[];
  readonly problem_count: number;
  /** The first 20, in the order of the dataset. */
  readonly failures: readonly Failure[];
  readonly failure_count: number;
}
