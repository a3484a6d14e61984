import type { PairedDifference } from './difference-record.ts';
import type { CaseStats, EvalStats } from './stats-record.ts';
import type { Totals } from './totals-record.ts';

// What a run of a matrix tells of each variant: plain JSON values, as the records.

/** A variant of the subject. */
export interface VariantHeader {
  /** Unique in the suite. */
  readonly name: string;
  /** The provider that answers; absent where the variant is no chat. */
  readonly provider?: string;
  /** The prompt, where the suite has several. */
  readonly prompt?: string;
}

/** What the cases of one variant came to; nothing of another variant counts in it. */
export interface VariantReport extends VariantHeader {
  readonly status: 'passed' | 'failed' | 'error';
  readonly cases: number;
  /** Rows that this variant could not use. */
  readonly problem_count: number;
  readonly overall: CaseStats;
  readonly evals: Readonly<Record<string, EvalStats>>;
  /** What its answers took; absent where none was made. */
  readonly totals?: Totals;
}

/** One variant compared with another, case by case; differences are B − A. */
export interface VariantComparison {
  /** The names of the variants. */
  readonly a: string;
  readonly b: string;
  /** The cases as wholes. */
  readonly cases: PairedDifference;
  readonly evals: Readonly<Record<string, PairedDifference>>;
}
