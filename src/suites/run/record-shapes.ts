import type { Cut } from '../../base/json/cut-value.ts';
import * as shape from '../../base/json/shape.ts';
import type { EvalToolCall, Threshold } from '../../contract/eval.ts';
import type { EventKind, Verdict } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { faultShape } from '../../contract/stored-fault.ts';
import type * as record from '../record.ts';
import { variantHeaders } from './variant-shapes.ts';

// What the records of a run have to be when they are read back, member by member; the types hold the two together.

const { anyMembers, anything, flag, listOf, members, nullOr, number, oneOf, optional, text } = shape;

const yes = shape.shapeOf((value): value is true => value === true, 'true');

const message: shape.Shape<ChatMessage> = shape.both(
  anyMembers,
  members<Pick<ChatMessage, 'role' | 'content'>>({
    role: oneOf('system', 'user', 'assistant', 'tool'),
    content: text,
  }),
);

const toolCall = members<EvalToolCall>({
  name: text,
  args: anything,
  result: text,
  error: text,
  error_type: optional(text),
  index: number,
});

/** The messages and tool calls of an answer, and what else is known of it. */
export const conversation = {
  messages: listOf(message),
  tool_calls: listOf(toolCall),
  metadata: anyMembers,
};

const threshold = members<Threshold>({ min_score: optional(number), max_score: optional(number) });

export const header = members<record.RunHeader>({
  run_id: text,
  kind: optional(oneOf('shadow')),
  suite: text,
  file: text,
  started_at: text,
  epochs: number,
  evals: listOf(
    members<record.EvalHeader>({
      id: text,
      type: text,
      role: oneOf('assertion', 'guardrail', 'metric'),
      weight: number,
      reducer: text,
    }),
  ),
  total: nullOr(number),
  variants: optional(variantHeaders),
});

export const reopening = members<Omit<record.RunReopening, 'report'>>({
  number,
  cases: oneOf('failed', 'unscored', 'all'),
  at: text,
  status: oneOf('passed', 'failed', 'error', 'running', 'interrupted'),
});

const kinds: Readonly<Record<EventKind | 'host', true>> = {
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

const guard = members<record.GuardRecord>({
  hook: shape.keyOf(kinds),
  phase: text,
  verdict: shape.keyOf(verdicts),
  decided_by: nullOr(text),
  expected: nullOr(flag),
  flagged: flag,
  confidence: nullOr(number),
  hooks: listOf(members({ name: text, verdict: text, duration_ms: number })),
});

const evalResult = members<record.EvalResult>({
  eval: text,
  score: nullOr(number),
  passed: flag,
  detail: text,
  threshold,
  params: optional(anyMembers),
  content: optional(text),
  data: optional(anyMembers),
  error: optional(faultShape),
  duration_ms: number,
  queue_ms: optional(number),
  attempts: number,
  stderr: optional(text),
  guard: optional(guard),
  label: optional(flag),
});

export const spending = members<record.Spending>({ calls: number, cached: number, cost_usd: nullOr(number) });

const epoch = members<record.EpochRecord>({
  epoch: number,
  content: text,
  ...conversation,
  variables: optional(anyMembers),
  threshold: optional(threshold),
  subject: optional(
    members<record.SubjectRecord>({
      status: oneOf('ok', 'failed'),
      duration_ms: number,
      queue_ms: optional(number),
      cached: flag,
      attempts: number,
      error: optional(faultShape),
    }),
  ),
  spending: optional(spending),
  results: listOf(evalResult),
});

const keptRow = {
  row: optional(anyMembers),
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

export const caseRecord = members<record.CaseRecord>({
  number,
  file: text,
  line: number,
  id: text,
  variant: optional(text),
  tags: listOf(text),
  ...keptRow,
  epochs: listOf(epoch),
  results: listOf(
    members<record.CaseResult>({
      eval: text,
      score: nullOr(number),
      passed: flag,
      detail: text,
      passed_epochs: number,
      fault: optional(yes),
    }),
  ),
  score: nullOr(number),
  passed: flag,
});

/** One epoch of a case as the store holds it; the first one has the row. */
export interface StoredEpoch extends Pick<record.CaseRecord, 'row' | 'row_cuts'> {
  readonly file: string;
  readonly line: number;
  readonly tags: readonly string[];
  readonly record: record.EpochRecord;
}

export const storedEpoch = members<StoredEpoch>({
  file: text,
  line: number,
  tags: listOf(text),
  ...keptRow,
  record: epoch,
});
