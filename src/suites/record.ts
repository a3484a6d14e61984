import type { Fault } from '../base/errors.ts';
import type { Cut } from '../base/json/cut-value.ts';
import {
  anyMembers,
  anything,
  both,
  flag,
  keyOf,
  listOf,
  type MembersOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  recordOf,
  type Shape,
  shapeOf,
  type TypeOf,
  text,
} from '../base/json/shape.ts';
import type { EvalToolCall, Threshold } from '../contract/eval.ts';
import type { EventKind, Verdict } from '../contract/hook.ts';
import type { ChatMessage } from '../contract/provider.ts';
import { faultShape } from '../contract/stored-fault.ts';
import type { Rating } from './rating/rating.ts';
import {
  caseStats,
  evalStats,
  interval,
  totals,
  variantComparison,
  variantHeader,
  variantReport,
} from './run/stats-record.ts';

export type {
  Agreement,
  CaseStats,
  Classification,
  EvalStats,
  Interval,
  Latency,
  Stats,
} from './run/stats-record.ts';

// The records of a suite run: plain JSON values that files and stores can hold. Each shape validates stored records and
// defines the type.

/** `metric`: does not affect any verdict. */
const role = oneOf('assertion', 'guardrail', 'metric');

export interface EvalHeader extends MembersOf<typeof evalHeaderMembers> {}
const evalHeaderMembers = {
  id: text,
  /** The eval's type; `not`, `any_of` or `all_of` for a combination; `guard` for a judged guardrail. */
  type: text,
  role,
  weight: number,
  /** How a case's epochs reduce to one score: `mean`, `median`, `mode`, `max`, `pass@2`, `at_least_2`. */
  reducer: text,
};
const evalHeader = members<EvalHeader>(evalHeaderMembers);

/** The identity of a run and its evals: the first record of a reporter, file or store. */
export interface RunHeader extends MembersOf<typeof runHeaderMembers> {}
const runHeaderMembers = {
  run_id: text,
  /** Decisions of a hook in shadow mode on traffic, instead of a suite run. It has no end. */
  kind: optional(oneOf('shadow')),
  suite: text,
  /** The suite file, as the user gave it. */
  file: text,
  /** ISO 8601, UTC. */
  started_at: text,
  /** The number of runs of each case. */
  epochs: number,
  evals: listOf(evalHeader),
  /** The number of cases; null if unknown before the end of the dataset. */
  total: nullOr(number),
  /** Only in a matrix, in the order of the suite: each row is a case of every variant. */
  variants: optional(listOf(variantHeader)),
};
export const runHeader = members<RunHeader>(runHeaderMembers);

const message: Shape<ChatMessage> = both(
  anyMembers,
  members<Pick<ChatMessage, 'role' | 'content'>>({
    role: oneOf('system', 'user', 'assistant', 'tool'),
    content: text,
  }),
);

export const conversation = {
  messages: listOf(message),
  tool_calls: listOf(
    members<EvalToolCall>({
      name: text,
      args: anything,
      result: text,
      error: text,
      error_type: optional(text),
      index: number,
    }),
  ),
  metadata: anyMembers,
};

const threshold = members<Threshold>({ min_score: optional(number), max_score: optional(number) });

const eventKinds: Readonly<Record<EventKind | 'host', true>> = {
  tool: true,
  provider: true,
  session: true,
  eval: true,
  turn: true,
  host: true,
};
const verdicts: Readonly<Record<Verdict, true>> = {
  allow: true,
  modify: true,
  deny: true,
  ask: true,
  respond: true,
  abort: true,
};

export interface GuardRecord extends MembersOf<typeof guardRecordMembers> {}
const guardRecordMembers = {
  hook: keyOf(eventKinds),
  phase: text,
  verdict: keyOf(verdicts),
  /** The hook that decided; null if all hooks allowed the event. */
  decided_by: nullOr(text),
  /** Whether the event should have been stopped or changed; null without a label. */
  expected: nullOr(flag),
  /** Whether the event was stopped or changed: any verdict except allow. */
  flagged: flag,
  /** The guard's confidence that the event should be flagged, 0..1, from its metadata; null if absent. */
  confidence: nullOr(number),
  /** Each hook that ran, with its duration in milliseconds. */
  hooks: listOf(members({ name: text, verdict: text, duration_ms: number })),
};
const guardRecord = members<GuardRecord>(guardRecordMembers);

export interface EvalResult extends MembersOf<typeof evalResultMembers> {}
const evalResultMembers = {
  eval: text,
  /** 0..1; null if unscored. */
  score: nullOr(number),
  passed: flag,
  /** The eval's detail, or why there is no score. */
  detail: text,
  /** The bounds that decided `passed`. */
  threshold,
  /** The eval's params; absent for combinations and guards. */
  params: optional(anyMembers),
  /** The judged text, if it differs from the content of the case. */
  content: optional(text),
  data: optional(anyMembers),
  /** Set if a fault, rather than the eval's answer, is the reason. */
  error: optional(faultShape),
  /** Measured from when it gets a pool slot. */
  duration_ms: number,
  /** The wait for the slot; absent in older runs. */
  queue_ms: optional(number),
  /** The number of attempts; more than one only after infrastructure faults. */
  attempts: number,
  /** The last part of the stderr of a one-shot process; absent if empty. */
  stderr: optional(text),
  guard: optional(guardRecord),
  /** A person's verdict on whether the case should pass; absent without a label. */
  label: optional(flag),
};
const evalResult = members<EvalResult>(evalResultMembers);

export interface Spending extends MembersOf<typeof spendingMembers> {}
const spendingMembers = {
  calls: number,
  /** Calls answered from the cache, which cost nothing. */
  cached: number,
  /** US dollars; null if any cost is unknown. */
  cost_usd: nullOr(number),
};
const spending = members<Spending>(spendingMembers);

export interface SubjectRecord extends MembersOf<typeof subjectRecordMembers> {}
const subjectRecordMembers = {
  status: oneOf('ok', 'failed'),
  /** Measured from when it gets a pool slot. */
  duration_ms: number,
  /** The total wait for slots; absent in older runs. */
  queue_ms: optional(number),
  cached: flag,
  attempts: number,
  /** Why there is no answer. Every eval of the epoch is then unscored. */
  error: optional(faultShape),
};
const subjectRecord = members<SubjectRecord>(subjectRecordMembers);

export interface EpochRecord extends MembersOf<typeof epochRecordMembers> {}
const epochRecordMembers = {
  /** From 1. */
  epoch: number,
  /** The judged text: recorded, or made by the subject. */
  content: text,
  ...conversation,
  /** `context.variables` of the case; absent if it has none. */
  variables: optional(anyMembers),
  /** The bounds of the whole case, if any. */
  threshold: optional(threshold),
  /** How the subject made the text; absent for a recorded text. */
  subject: optional(subjectRecord),
  /** The model calls of the epoch, including those of judges; absent if there were none. */
  spending: optional(spending),
  results: listOf(evalResult),
};
const epochRecord = members<EpochRecord>(epochRecordMembers);

const keptRow = {
  /** The dataset row with its own fields, without secrets; absent in older runs. */
  row: optional(anyMembers),
  /** Cuts of a very large row; absent if the row is whole. */
  row_cuts: optional(
    listOf(
      members<Cut>({
        path: text,
        unit: oneOf('characters', 'items', 'members'),
        kept: number,
        length: number,
      }),
    ),
  ),
};

export interface StoredEpoch extends MembersOf<typeof storedEpochMembers> {}
const storedEpochMembers = {
  file: text,
  line: number,
  tags: listOf(text),
  ...keptRow,
  record: epochRecord,
};
export const storedEpoch = members<StoredEpoch>(storedEpochMembers);

export interface CaseResult extends MembersOf<typeof caseResultMembers> {}
const caseResultMembers = {
  eval: text,
  /** 0..1; null if unscored. */
  score: nullOr(number),
  passed: flag,
  detail: text,
  /** The number of epochs that passed individually. */
  passed_epochs: number,
  /** Set if a fault left an epoch unscored, regardless of the other epochs. */
  fault: optional(shapeOf((value): value is true => value === true, 'true')),
};
const caseResult = members<CaseResult>(caseResultMembers);

export interface CaseRecord extends MembersOf<typeof caseRecordMembers> {}
const caseRecordMembers = {
  /** The row number, from 1. */
  number,
  file: text,
  line: number,
  id: text,
  /** The variant of the case; only in a matrix. */
  variant: optional(text),
  tags: listOf(text),
  ...keptRow,
  /** One record per epoch, in order; at least one. */
  epochs: listOf(epochRecord),
  /** One result for each eval that judged the case, over all epochs, in the order of the suite. */
  results: listOf(caseResult),
  /** The weighted mean of assertion and guardrail scores; null if one is unscored or there are none. */
  score: nullOr(number),
  /** Whether `score` meets the case's threshold or, without one, every assertion and guardrail passed. */
  passed: flag,
};
export const caseRecord = members<CaseRecord>(caseRecordMembers);

export interface GateTest extends MembersOf<typeof gateTestMembers> {}
const gateTestMembers = {
  name: oneOf('mcnemar', 'sign_flip', 'paired_t'),
  pairs: number,
  /** Compared pairs without a difference. */
  ties: number,
  /** Pairs with a missing score. A test of verdicts counts them as not passed; a test of scores leaves them out. */
  unscored: number,
  /** Cases that only one variant has. */
  unpaired: number,
  /** Two-sided; null if nothing was compared. */
  p_value: nullOr(number),
  /** 95 % interval of the difference; null if there is none. */
  ci95: nullOr(interval),
  /** Why the test cannot decide, so that the gate fails; null if it can. */
  flaw: nullOr(oneOf('too_few_pairs', 'too_many_missing')),
};
const gateTest = members<GateTest>(gateTestMembers);

export interface GateResult extends MembersOf<typeof gateResultMembers> {}
const gateResultMembers = {
  /** Absent for a gate over whole cases. */
  eval: optional(text),
  metric: text,
  tag: optional(text),
  /** The variant that was judged; only in a matrix. */
  variant: optional(text),
  /** For a gate between variants: the variant that `variant` must beat. */
  better_than: optional(text),
  /** For a gate between variants, the difference of the metric: `variant` − `better_than`. */
  value: nullOr(number),
  min: nullOr(number),
  max: nullOr(number),
  passed: flag,
  /** For a gate between variants: the paired test that decided. */
  test: optional(gateTest),
};
const gateResult = members<GateResult>(gateResultMembers);

/** An invalid row; `file` and `line` locate it. */
export interface RowProblem extends MembersOf<typeof rowProblemMembers> {}
const rowProblemMembers = {
  /** The problem concerns the whole run, which is void, and not a row. */
  scope: optional(oneOf('run')),
  /** Default: DATASET_INVALID. */
  code: optional(text),
  /** The variant of the case; only in a matrix, and absent if no variant could use the row. */
  variant: optional(text),
  file: text,
  line: number,
  column: number,
  message: text,
  hint: optional(text),
};
export const rowProblem = members<RowProblem>(rowProblemMembers);

export interface Failure extends MembersOf<typeof failureMembers> {}
const failureMembers = {
  case: text,
  /** Only in a matrix. */
  variant: optional(text),
  file: text,
  line: number,
  eval: text,
  /** Null if unscored. */
  score: nullOr(number),
  /** The eval's detail, or why there is no score. */
  detail: text,
  /** The code of the fault, if one is the reason. */
  code: optional(text) as Shape<Fault['code'] | undefined>,
  /** What to do next, if a fault is the reason. */
  hint: optional(text),
  /** The first fields of the row by name, each cut to 200 characters; absent if the row is unknown. */
  fields: optional(recordOf(text)),
};
export const failure = members<Failure>(failureMembers);

/** The report of a run. It does not depend on the window or on the order of results. */
export interface SuiteReport extends MembersOf<typeof suiteReportMembers> {}
const suiteReportMembers = {
  run_id: text,
  suite: text,
  status: oneOf('passed', 'failed', 'error'),
  /** Cases that ran, without invalid rows. */
  cases: number,
  epochs: number,
  /** The run ended early because it reached the allowed number of failures. */
  bailed: flag,
  /** In a matrix, covers the cases of all variants, which are not independent: no standard errors or intervals. */
  overall: caseStats,
  evals: recordOf(evalStats),
  /** Only in a matrix, in the order of the suite. */
  variants: optional(listOf(variantReport)),
  /** Only in a matrix: every other variant compared with the first, and the pairs that gates compare. */
  comparisons: optional(listOf(variantComparison)),
  gates: listOf(gateResult),
  /** The usage of the answers; absent if no answers were made or no recorded ones report usage. */
  totals: optional(totals),
  /** Absent if no model was called. */
  spending: optional(spending),
  /** Cases not judged because the budget was spent; absent if there are none. The run can be resumed. */
  not_judged: optional(number),
  duration_ms: number,
  /** The first 20, in the order of the dataset. */
  problems: listOf(rowProblem),
  problem_count: number,
  /** The first 20, in the order of the dataset. */
  failures: listOf(failure),
  failure_count: number,
};
export const suiteReport = members<SuiteReport>(suiteReportMembers);

/** The report of a run that may not have ended. */
export interface RunSummary extends Omit<SuiteReport, 'status' | 'duration_ms'> {
  /** As in the run header. */
  readonly kind?: 'shadow';
  /** A run without an end is `interrupted` or `running`; a shadow is always `running`. */
  readonly status: SuiteReport['status'] | UnendedStatus;
  /** Null for a run without an end. */
  readonly duration_ms: number | null;
}

type UnendedStatus = 'running' | 'interrupted';

/** The cases to judge again: those that did not pass, those with an unscored result, or all. */
export type AgainScope = TypeOf<typeof againScope>;
const againScope = oneOf('failed', 'unscored', 'all');

export interface JudgeAgain {
  readonly run: string;
  readonly cases: AgainScope;
}

export interface RunReopening extends MembersOf<typeof runReopeningMembers> {
  /** Undefined if the run had not finished. */
  readonly report?: SuiteReport;
}
const runReopeningMembers = {
  /** From 1. */
  number,
  cases: againScope,
  /** ISO 8601, UTC. */
  at: text,
  status: oneOf('passed', 'failed', 'error', 'running', 'interrupted'),
};
/** Without the report, which the store keeps as text. */
export const runReopening = members<Omit<RunReopening, 'report'>>(runReopeningMembers);

export interface ReplacedCase {
  /** The number of the reopening that replaced it. 0: the row had changed when the run was resumed. */
  readonly reopening: number;
  readonly case: CaseRecord;
}

/** A finished or cut-off run to show, compare or render. */
export interface RunSource {
  readonly header: RunHeader;
  /** The absolute path of the suite file; only for a stored run. */
  readonly file?: string;
  /** All cases, or those with the id, in the order of the dataset; can be read more than once. */
  cases(caseId?: string): AsyncIterable<CaseRecord>;
  ratings?(caseId?: string): AsyncIterable<Rating>;
  /** The state of the run before each time that cases were judged again. */
  reopenings?(): Promise<readonly RunReopening[]>;
  /** Replaced records of the run's cases, or of one case, oldest first. */
  replaced?(caseId?: string): AsyncIterable<ReplacedCase>;
  /** Undefined if the run did not finish. */
  readonly report: SuiteReport | undefined;
  /** The status of a run without a report, if known. */
  readonly status?: UnendedStatus;
}
