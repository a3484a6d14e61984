import type { Fault } from '../base/errors.ts';
import type { Cut } from '../base/json/cut-value.ts';
import type { EvalToolCall, Threshold } from '../contract/eval.ts';
import type { EventKind, Verdict } from '../contract/hook.ts';
import type { ChatMessage } from '../contract/provider.ts';
import type { GateMetric, Role } from './file/model.ts';
import type { Rating } from './rating/rating.ts';
import type { PairedDifference } from './run/difference-record.ts';
import type { CaseStats, EvalStats, Interval } from './run/stats-record.ts';
import type { Totals } from './run/totals-record.ts';
import type { VariantComparison, VariantHeader, VariantReport } from './run/variant-record.ts';

export type {
  Agreement,
  CaseStats,
  Classification,
  EvalStats,
  Interval,
  Latency,
  Stats,
} from './run/stats-record.ts';

// The records of a run of a suite: plain JSON values, so that files and stores can hold them as they are.

/** The identity of a run and its evals: the first record of a reporter, a file or a store. */
export interface RunHeader {
  readonly run_id: string;
  /** No run of a suite, but what a hook in shadow mode would have decided of traffic: it has no end. */
  readonly kind?: 'shadow';
  readonly suite: string;
  /** The suite file, as the user gave it. */
  readonly file: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** How often each case is run. */
  readonly epochs: number;
  readonly evals: readonly EvalHeader[];
  /** How many cases there will be; null where that is unknown before the end of the dataset. */
  readonly total: number | null;
  /** Only of a matrix, in the order of the suite: each row is a case of every variant. */
  readonly variants?: readonly VariantHeader[];
}

export interface EvalHeader {
  readonly id: string;
  /** The eval's type; `not`, `any_of`, `all_of` of a combination; `guard` of a guardrail that is judged. */
  readonly type: string;
  readonly role: Role;
  readonly weight: number;
  /** How the epochs of a case become one score: `mean`, `median`, `mode`, `max`, `pass@2`, `at_least_2`. */
  readonly reducer: string;
}

/** One case with everything that was judged of it, in the order of the dataset. */
export interface CaseRecord {
  /** The number of its row, from 1. */
  readonly number: number;
  readonly file: string;
  readonly line: number;
  readonly id: string;
  /** Which variant of the subject it is of; only in a matrix. */
  readonly variant?: string;
  readonly tags: readonly string[];
  /** The row of the dataset with all its own fields, without secrets; unknown of older runs. */
  readonly row?: Readonly<Record<string, unknown>>;
  /** What was cut of a very large row; absent where the row is whole. */
  readonly row_cuts?: readonly Cut[];
  /** One for each time that the case was run, in order; at least one. */
  readonly epochs: readonly EpochRecord[];
  /** The epochs reduced to one result for each eval that judged the case, in the order of the suite. */
  readonly results: readonly CaseResult[];
  /** The weighted mean of the scores of assertions and guardrails; null when one of them is unscored, or there is none. */
  readonly score: number | null;
  /** Whether `score` meets the threshold of the case, or, without one, every assertion and guardrail passed. */
  readonly passed: boolean;
}

/** The results of one run of a case. */
export interface EpochRecord {
  /** From 1. */
  readonly epoch: number;
  /** The text that was judged: recorded, or made by the subject. */
  readonly content: string;
  readonly messages: readonly ChatMessage[];
  readonly tool_calls: readonly EvalToolCall[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `context.variables` of the case; absent where it has none. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The bounds of the case as a whole, where it has any. */
  readonly threshold?: Threshold;
  /** How the subject made the text; absent where the text was recorded. */
  readonly subject?: SubjectRecord;
  /** What its model calls came to, those of judges included; absent where there was none. */
  readonly spending?: Spending;
  readonly results: readonly EvalResult[];
}

/** What model calls came to. */
export interface Spending {
  /** Calls that were answered. */
  readonly calls: number;
  /** Those that the cache answered, which cost nothing. */
  readonly cached: number;
  /** US dollars; null when what one has cost is unknown. */
  readonly cost_usd: number | null;
}

export interface SubjectRecord {
  readonly status: 'ok' | 'failed';
  /** From when it had a slot of the pool. */
  readonly duration_ms: number;
  /** How long it waited for slots meanwhile; unknown of older runs. */
  readonly queue_ms?: number;
  /** The answer came from the cache. */
  readonly cached: boolean;
  readonly attempts: number;
  /** Why there is no answer; every eval of the epoch is then unscored. */
  readonly error?: Fault;
}

/** The result of one eval in one epoch. */
export interface EvalResult {
  readonly eval: string;
  /** 0..1; null when unscored. */
  readonly score: number | null;
  readonly passed: boolean;
  /** The detail that the eval gave, or why there is no score. */
  readonly detail: string;
  /** The bounds that `passed` was decided by. */
  readonly threshold: Threshold;
  /** What the eval was asked with; absent of combinations and guards. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** What was judged in place of the content of the case. */
  readonly content?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** Set when a fault, rather than the answer of the eval, is the reason. */
  readonly error?: Fault;
  /** From when it had a slot of the pool. */
  readonly duration_ms: number;
  /** How long it waited for that; unknown of older runs. */
  readonly queue_ms?: number;
  /** How often the eval was asked; more than once only after faults of the infrastructure. */
  readonly attempts: number;
  /** The end of the stderr of a one-shot process; absent when it is empty. */
  readonly stderr?: string;
  readonly guard?: GuardRecord;
  /** Whether a person said that the case should pass; absent without a label. */
  readonly label?: boolean;
}

/** The result of an eval for a case, over all its epochs. */
export interface CaseResult {
  readonly eval: string;
  /** 0..1; null when unscored. */
  readonly score: number | null;
  readonly passed: boolean;
  readonly detail: string;
  /** How many of the epochs passed by themselves. */
  readonly passed_epochs: number;
  /** A fault left some epoch without a score, whatever the others came to. */
  readonly fault?: true;
}

export interface GateResult {
  /** Absent of a gate over the cases as wholes. */
  readonly eval?: string;
  readonly metric: GateMetric;
  /** Only there when the gate has one. */
  readonly tag?: string;
  /** The variant that it was judged of; only in a matrix. */
  readonly variant?: string;
  /** Of a gate between variants: the one that `variant` has to be better than. */
  readonly better_than?: string;
  /** Of a gate between variants, the difference of the metric, `variant` − `better_than`. */
  readonly value: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly passed: boolean;
  /** Of a gate between variants: the paired test that decided. */
  readonly test?: GateTest;
}

/** A paired test of one variant against another. */
export interface GateTest extends Pick<PairedDifference, 'pairs'> {
  readonly name: 'mcnemar' | 'sign_flip' | 'paired_t';
  /** Pairs that were compared and do not differ. */
  readonly ties: number;
  /** Pairs of which one or both have no score: not passed in a test of verdicts, left out of one of scores. */
  readonly unscored: number;
  /** Cases that only one of both variants has. */
  readonly unpaired: number;
  /** Two-sided; null where nothing was compared. */
  readonly p_value: number | null;
  /** 95 % interval of the difference; null where there is none. */
  readonly ci95: Interval | null;
  /** Why the test cannot decide, so that the gate is missed; null when it can. */
  readonly flaw: 'too_few_pairs' | 'too_many_missing' | null;
}

/** A row that could not be used; `file` and `line` are those of the row. */
export interface RowProblem {
  /** Of no row, but of the run as a whole, which is void. */
  readonly scope?: 'run';
  /** The variant whose case it is; only in a matrix, and not where no variant could use the row. */
  readonly variant?: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/** An assertion or a guardrail that did not pass. */
export interface Failure {
  readonly case: string;
  /** Only in a matrix. */
  readonly variant?: string;
  readonly file: string;
  readonly line: number;
  readonly eval: string;
  /** Null when unscored. */
  readonly score: number | null;
  /** The eval's own detail, or why there is no score. */
  readonly detail: string;
  /** The code of the fault that is the reason. */
  readonly code?: Fault['code'];
  /** What to do next, where a fault is the reason. */
  readonly hint?: string;
  /** The first fields of the row by their names, each as a text of at most 200 characters; absent where the row is not known. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The report of a run: independent of the window and of the order in which results came in. */
export interface SuiteReport {
  readonly run_id: string;
  readonly suite: string;
  readonly status: 'passed' | 'failed' | 'error';
  /** Cases that ran; rows that could not be used are not among them. */
  readonly cases: number;
  readonly epochs: number;
  /** The run ended early, after as many failures as were allowed. */
  readonly bailed: boolean;
  /** In a matrix over the cases of all variants, which are not independent: without standard errors and intervals. */
  readonly overall: CaseStats;
  readonly evals: Readonly<Record<string, EvalStats>>;
  /** Only of a matrix, in the order of the suite. */
  readonly variants?: readonly VariantReport[];
  /** Only of a matrix: every other variant with the first, and whatever else gates compare. */
  readonly comparisons?: readonly VariantComparison[];
  readonly gates: readonly GateResult[];
  /** What the answers took; absent where none was made nor told that. */
  readonly totals?: Totals;
  /** Absent where no model was called. */
  readonly spending?: Spending;
  /** Cases that were not judged, since the budget was spent: the run can be resumed. Absent where there are none. */
  readonly not_judged?: number;
  readonly duration_ms: number;
  /** The first 20, in the order of the dataset. */
  readonly problems: readonly RowProblem[];
  readonly problem_count: number;
  /** The first 20, in the order of the dataset. */
  readonly failures: readonly Failure[];
  readonly failure_count: number;
}

/** The report of a run that may not have ended. */
export interface RunSummary extends Omit<SuiteReport, 'status' | 'duration_ms'> {
  /** As in the header of the run. */
  readonly kind?: 'shadow';
  /** Without an end a run was `interrupted`, or is `running`, as what a shadow would decide always is. */
  readonly status: SuiteReport['status'] | UnendedStatus;
  /** Null for a run without an end. */
  readonly duration_ms: number | null;
}

type UnendedStatus = 'running' | 'interrupted';

/** Which cases of a kept run are judged again: those that did not pass, those with a result that is unscored, or all. */
export type AgainScope = 'failed' | 'unscored' | 'all';

/** Cases of a kept run that are judged again into it. */
export interface JudgeAgain {
  /** The id of the run. */
  readonly run: string;
  readonly cases: AgainScope;
}

/** How a run stood before some of its cases were judged again. */
export interface RunReopening {
  /** From 1. */
  readonly number: number;
  readonly cases: AgainScope;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly status: SuiteReport['status'] | UnendedStatus;
  /** Undefined of a run that had not come to its end. */
  readonly report?: SuiteReport;
}

/** A case as it was judged before another judgement replaced it. */
export interface ReplacedCase {
  /** The number of the reopening that replaced it; 0: the row had changed when the run was resumed. */
  readonly reopening: number;
  readonly case: CaseRecord;
}

/** A run that is over, or was cut off, to be shown, compared or rendered again. */
export interface RunSource {
  readonly header: RunHeader;
  /** The suite file, absolute; only of a kept run. */
  readonly file?: string;
  /** All, or those of that id, in the order of the dataset; may be read more than once. */
  cases(caseId?: string): AsyncIterable<CaseRecord>;
  /** What people said of its cases, or of that one. */
  ratings?(caseId?: string): AsyncIterable<Rating>;
  /** How the run stood each time that cases of it were judged again. */
  reopenings?(): Promise<readonly RunReopening[]>;
  /** What was judged before of its cases, or of that one, and was replaced; the oldest first. */
  replaced?(caseId?: string): AsyncIterable<ReplacedCase>;
  /** Undefined of a run that did not come to its end. */
  readonly report: SuiteReport | undefined;
  /** Of a run without a report, where that is known. */
  readonly status?: UnendedStatus;
}

/** What a guardrail decided of a labelled event. */
export interface GuardRecord {
  readonly hook: EventKind | 'host';
  readonly phase: string;
  readonly verdict: Verdict;
  /** The hook that decided; null when all merely allowed. */
  readonly decided_by: string | null;
  /** Whether the event should have been stopped or changed; null where it has no label. */
  readonly expected: boolean | null;
  /** Whether it was: any verdict but allow. */
  readonly flagged: boolean;
  /**
   * The confidence of the guard that the event should be flagged, 0..1, from its metadata; null without
   * one.
   */
  readonly confidence: number | null;
  /** Each hook that was asked, with its milliseconds. */
  readonly hooks: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly duration_ms: number;
  }[];
}
