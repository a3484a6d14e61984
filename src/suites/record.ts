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

// The records of a run of a suite: plain JSON values, so that files and stores can hold them as they are. Each shape is
// what a stored one has to be when it is read back, and gives its type.

/** `metric`: it counts towards no verdict. */
const role = oneOf('assertion', 'guardrail', 'metric');

export interface EvalHeader extends MembersOf<typeof evalHeaderMembers> {}
const evalHeaderMembers = {
  id: text,
  /** The eval's type; `not`, `any_of`, `all_of` of a combination; `guard` of a guardrail that is judged. */
  type: text,
  role,
  weight: number,
  /** How the epochs of a case become one score: `mean`, `median`, `mode`, `max`, `pass@2`, `at_least_2`. */
  reducer: text,
};
const evalHeader = members<EvalHeader>(evalHeaderMembers);

/** The identity of a run and its evals: the first record of a reporter, a file or a store. */
export interface RunHeader extends MembersOf<typeof runHeaderMembers> {}
const runHeaderMembers = {
  run_id: text,
  /** No run of a suite, but what a hook in shadow mode would have decided of traffic: it has no end. */
  kind: optional(oneOf('shadow')),
  suite: text,
  /** The suite file, as the user gave it. */
  file: text,
  /** ISO 8601, UTC. */
  started_at: text,
  /** How often each case is run. */
  epochs: number,
  evals: listOf(evalHeader),
  /** How many cases there will be; null where that is unknown before the end of the dataset. */
  total: nullOr(number),
  /** Only of a matrix, in the order of the suite: each row is a case of every variant. */
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

/** The messages and tool calls of an answer, and what else is known of it. */
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

/** What a guardrail decided of a labelled event. */
export interface GuardRecord extends MembersOf<typeof guardRecordMembers> {}
const guardRecordMembers = {
  hook: keyOf(eventKinds),
  phase: text,
  verdict: keyOf(verdicts),
  /** The hook that decided; null when all merely allowed. */
  decided_by: nullOr(text),
  /** Whether the event should have been stopped or changed; null where it has no label. */
  expected: nullOr(flag),
  /** Whether it was: any verdict but allow. */
  flagged: flag,
  /** The confidence of the guard that the event should be flagged, 0..1, from its metadata; null without one. */
  confidence: nullOr(number),
  /** Each hook that was asked, with its milliseconds. */
  hooks: listOf(members({ name: text, verdict: text, duration_ms: number })),
};
const guardRecord = members<GuardRecord>(guardRecordMembers);

/** The result of one eval in one epoch. */
export interface EvalResult extends MembersOf<typeof evalResultMembers> {}
const evalResultMembers = {
  eval: text,
  /** 0..1; null when unscored. */
  score: nullOr(number),
  passed: flag,
  /** The detail that the eval gave, or why there is no score. */
  detail: text,
  /** The bounds that `passed` was decided by. */
  threshold,
  /** What the eval was asked with; absent of combinations and guards. */
  params: optional(anyMembers),
  /** What was judged in place of the content of the case. */
  content: optional(text),
  data: optional(anyMembers),
  /** Set when a fault, rather than the answer of the eval, is the reason. */
  error: optional(faultShape),
  /** From when it had a slot of the pool. */
  duration_ms: number,
  /** How long it waited for that; unknown of older runs. */
  queue_ms: optional(number),
  /** How often the eval was asked; more than once only after faults of the infrastructure. */
  attempts: number,
  /** The end of the stderr of a one-shot process; absent when it is empty. */
  stderr: optional(text),
  guard: optional(guardRecord),
  /** Whether a person said that the case should pass; absent without a label. */
  label: optional(flag),
};
const evalResult = members<EvalResult>(evalResultMembers);

/** What model calls came to. */
export interface Spending extends MembersOf<typeof spendingMembers> {}
const spendingMembers = {
  /** Calls that were answered. */
  calls: number,
  /** Those that the cache answered, which cost nothing. */
  cached: number,
  /** US dollars; null when what one has cost is unknown. */
  cost_usd: nullOr(number),
};
const spending = members<Spending>(spendingMembers);

export interface SubjectRecord extends MembersOf<typeof subjectRecordMembers> {}
const subjectRecordMembers = {
  status: oneOf('ok', 'failed'),
  /** From when it had a slot of the pool. */
  duration_ms: number,
  /** How long it waited for slots meanwhile; unknown of older runs. */
  queue_ms: optional(number),
  /** The answer came from the cache. */
  cached: flag,
  attempts: number,
  /** Why there is no answer; every eval of the epoch is then unscored. */
  error: optional(faultShape),
};
const subjectRecord = members<SubjectRecord>(subjectRecordMembers);

/** The results of one run of a case. */
export interface EpochRecord extends MembersOf<typeof epochRecordMembers> {}
const epochRecordMembers = {
  /** From 1. */
  epoch: number,
  /** The text that was judged: recorded, or made by the subject. */
  content: text,
  ...conversation,
  /** `context.variables` of the case; absent where it has none. */
  variables: optional(anyMembers),
  /** The bounds of the case as a whole, where it has any. */
  threshold: optional(threshold),
  /** How the subject made the text; absent where the text was recorded. */
  subject: optional(subjectRecord),
  /** What its model calls came to, those of judges included; absent where there was none. */
  spending: optional(spending),
  results: listOf(evalResult),
};
const epochRecord = members<EpochRecord>(epochRecordMembers);

const keptRow = {
  /** The row of the dataset with all its own fields, without secrets; unknown of older runs. */
  row: optional(anyMembers),
  /** What was cut of a very large row; absent where the row is whole. */
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

/** One epoch of a case as the store holds it; the first one has the row. */
export interface StoredEpoch extends MembersOf<typeof storedEpochMembers> {}
const storedEpochMembers = {
  file: text,
  line: number,
  tags: listOf(text),
  ...keptRow,
  record: epochRecord,
};
export const storedEpoch = members<StoredEpoch>(storedEpochMembers);

/** The result of an eval for a case, over all its epochs. */
export interface CaseResult extends MembersOf<typeof caseResultMembers> {}
const caseResultMembers = {
  eval: text,
  /** 0..1; null when unscored. */
  score: nullOr(number),
  passed: flag,
  detail: text,
  /** How many of the epochs passed by themselves. */
  passed_epochs: number,
  /** A fault left some epoch without a score, whatever the others came to. */
  fault: optional(shapeOf((value): value is true => value === true, 'true')),
};
const caseResult = members<CaseResult>(caseResultMembers);

/** One case with everything that was judged of it, in the order of the dataset. */
export interface CaseRecord extends MembersOf<typeof caseRecordMembers> {}
const caseRecordMembers = {
  /** The number of its row, from 1. */
  number,
  file: text,
  line: number,
  id: text,
  /** Which variant of the subject it is of; only in a matrix. */
  variant: optional(text),
  tags: listOf(text),
  ...keptRow,
  /** One for each time that the case was run, in order; at least one. */
  epochs: listOf(epochRecord),
  /** The epochs reduced to one result for each eval that judged the case, in the order of the suite. */
  results: listOf(caseResult),
  /** The weighted mean of the scores of assertions and guardrails; null when one of them is unscored, or there is none. */
  score: nullOr(number),
  /** Whether `score` meets the threshold of the case, or, without one, every assertion and guardrail passed. */
  passed: flag,
};
export const caseRecord = members<CaseRecord>(caseRecordMembers);

/** A paired test of one variant against another. */
export interface GateTest extends MembersOf<typeof gateTestMembers> {}
const gateTestMembers = {
  name: oneOf('mcnemar', 'sign_flip', 'paired_t'),
  pairs: number,
  /** Pairs that were compared and do not differ. */
  ties: number,
  /** Pairs of which one or both have no score: not passed in a test of verdicts, left out of one of scores. */
  unscored: number,
  /** Cases that only one of both variants has. */
  unpaired: number,
  /** Two-sided; null where nothing was compared. */
  p_value: nullOr(number),
  /** 95 % interval of the difference; null where there is none. */
  ci95: nullOr(interval),
  /** Why the test cannot decide, so that the gate is missed; null when it can. */
  flaw: nullOr(oneOf('too_few_pairs', 'too_many_missing')),
};
const gateTest = members<GateTest>(gateTestMembers);

export interface GateResult extends MembersOf<typeof gateResultMembers> {}
const gateResultMembers = {
  /** Absent of a gate over the cases as wholes. */
  eval: optional(text),
  metric: text,
  /** Only there when the gate has one. */
  tag: optional(text),
  /** The variant that it was judged of; only in a matrix. */
  variant: optional(text),
  /** Of a gate between variants: the one that `variant` has to be better than. */
  better_than: optional(text),
  /** Of a gate between variants, the difference of the metric, `variant` − `better_than`. */
  value: nullOr(number),
  min: nullOr(number),
  max: nullOr(number),
  passed: flag,
  /** Of a gate between variants: the paired test that decided. */
  test: optional(gateTest),
};
const gateResult = members<GateResult>(gateResultMembers);

/** A row that could not be used; `file` and `line` are those of the row. */
export interface RowProblem extends MembersOf<typeof rowProblemMembers> {}
const rowProblemMembers = {
  /** Of no row, but of the run as a whole, which is void. */
  scope: optional(oneOf('run')),
  /** The variant whose case it is; only in a matrix, and not where no variant could use the row. */
  variant: optional(text),
  file: text,
  line: number,
  column: number,
  message: text,
  hint: optional(text),
};
export const rowProblem = members<RowProblem>(rowProblemMembers);

/** An assertion or a guardrail that did not pass. */
export interface Failure extends MembersOf<typeof failureMembers> {}
const failureMembers = {
  case: text,
  /** Only in a matrix. */
  variant: optional(text),
  file: text,
  line: number,
  eval: text,
  /** Null when unscored. */
  score: nullOr(number),
  /** The eval's own detail, or why there is no score. */
  detail: text,
  /** The code of the fault that is the reason. */
  code: optional(text) as Shape<Fault['code'] | undefined>,
  /** What to do next, where a fault is the reason. */
  hint: optional(text),
  /** The first fields of the row by their names, each as a text of at most 200 characters; absent where the row is not known. */
  fields: optional(recordOf(text)),
};
export const failure = members<Failure>(failureMembers);

/** The report of a run: independent of the window and of the order in which results came in. */
export interface SuiteReport extends MembersOf<typeof suiteReportMembers> {}
const suiteReportMembers = {
  run_id: text,
  suite: text,
  status: oneOf('passed', 'failed', 'error'),
  /** Cases that ran; rows that could not be used are not among them. */
  cases: number,
  epochs: number,
  /** The run ended early, after as many failures as were allowed. */
  bailed: flag,
  /** In a matrix over the cases of all variants, which are not independent: without standard errors and intervals. */
  overall: caseStats,
  evals: recordOf(evalStats),
  /** Only of a matrix, in the order of the suite. */
  variants: optional(listOf(variantReport)),
  /** Only of a matrix: every other variant with the first, and whatever else gates compare. */
  comparisons: optional(listOf(variantComparison)),
  gates: listOf(gateResult),
  /** What the answers took; absent where none was made nor told that. */
  totals: optional(totals),
  /** Absent where no model was called. */
  spending: optional(spending),
  /** Cases that were not judged, since the budget was spent: the run can be resumed. Absent where there are none. */
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
  /** As in the header of the run. */
  readonly kind?: 'shadow';
  /** Without an end a run was `interrupted`, or is `running`, as what a shadow would decide always is. */
  readonly status: SuiteReport['status'] | UnendedStatus;
  /** Null for a run without an end. */
  readonly duration_ms: number | null;
}

type UnendedStatus = 'running' | 'interrupted';

/** Which cases of a kept run are judged again: those that did not pass, those with a result that is unscored, or all. */
export type AgainScope = TypeOf<typeof againScope>;
const againScope = oneOf('failed', 'unscored', 'all');

/** Cases of a kept run that are judged again into it. */
export interface JudgeAgain {
  /** The id of the run. */
  readonly run: string;
  readonly cases: AgainScope;
}

/** How a run stood before some of its cases were judged again. */
export interface RunReopening extends MembersOf<typeof runReopeningMembers> {
  /** Undefined of a run that had not come to its end. */
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
/** Without the report, which the store keeps as a text. */
export const runReopening = members<Omit<RunReopening, 'report'>>(runReopeningMembers);

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
