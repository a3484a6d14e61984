import { type Fault, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type {
  ModelCallDetails,
  ScoreDetails,
  ToolCallDetails,
  WorkDetails,
} from '../../contract/run-details.ts';
import type { StepRecord } from '../../store/store.ts';
import { answerRecord, scoreRecord } from '../state/answer-record.ts';
import { callRecord } from '../state/call-record.ts';
import { type RecordKind, readRecord } from '../state/record.ts';
import { splitName } from '../state/retries.ts';
import { shortenJson } from './shorten-json.ts';
import type { WorkKind } from './step-place.ts';

export interface WorkContext {
  readonly runId: string;
  readonly maxCharacters: number | undefined;
}

/** Some of it as exact JSON, which `toDocument` turns into values. */
type Exact<Details> = { readonly [Key in keyof Details]: Details[Key] | Json };

/** What a journal entry records. One that cannot be read says why. */
export function toWorkDetails(kind: WorkKind, record: StepRecord, context: WorkContext): Exact<WorkDetails> {
  switch (kind) {
    case 'tool call':
      return toToolCall(record, context);
    case 'model call':
      return toModelCall(record, context);
    case 'score':
      return toScore(record, context);
    case 'hooks': {
      const decision = record.outcome === null ? null : shortenJson(record.outcome, context.maxCharacters);
      return { what: 'hooks', path: splitName(record.step).path, decision };
    }
  }
}

function toToolCall(record: StepRecord, context: WorkContext): Exact<ToolCallDetails> {
  const about = { what: 'tool call', path: splitName(record.step).path, ...timesOf(record) } as const;
  const { value, error } = readOutcome(callRecord, record, context);
  const short = (json: Json) => shortenJson(json, context.maxCharacters);
  if (error !== undefined) return { ...about, tool: null, args: null, status: 'failed', error };
  if (value === undefined) return { ...about, tool: null, args: null, status: 'open' };
  const { outcome, metadata, tool = null, args, sent, key } = value;
  const asked = {
    ...about,
    tool,
    args: args === undefined ? null : short(args),
    ...(sent !== undefined && { sent: short(sent) }),
    ...(key !== undefined && { idempotency_key: `${context.runId}/${key}` }),
    ...(metadata.text !== '{}' && { metadata: short(metadata) }),
    status: outcome.status,
  };
  switch (outcome.status) {
    case 'ok':
      return { ...asked, result: short(outcome.result) };
    case 'failed':
      return { ...asked, error: outcome.error };
    case 'denied': {
      const { hook, reason, error: fault } = outcome;
      return { ...asked, hook, reason, ...(fault && { error: fault }) };
    }
    case 'pending':
      return { ...asked, reason: outcome.message };
  }
}

function toModelCall(record: StepRecord, context: WorkContext): Exact<ModelCallDetails> {
  const unknown = { input_tokens: null, output_tokens: null, cost_usd: null };
  const about = {
    what: 'model call',
    path: splitName(record.step).path,
    ...timesOf(record),
    ...unknown,
  } as const;
  const { value, error } = readOutcome(answerRecord, record, context);
  if (error !== undefined) return { ...about, status: 'failed', error };
  if (value === undefined) return { ...about, status: 'open' };
  if ('error' in value) return { ...about, status: 'failed', error: value.error };
  const { message, finish_reason, usage, cost_usd = null, metadata } = value;
  return {
    ...about,
    status: 'ok',
    message: shortenJson(Json.from(message), context.maxCharacters),
    finish_reason,
    ...usage,
    cost_usd,
    ...(metadata.text !== '{}' && { metadata: shortenJson(metadata, context.maxCharacters) }),
  };
}

function toScore(record: StepRecord, context: WorkContext): Exact<ScoreDetails> {
  const about = { what: 'score', path: splitName(record.step).path, ...timesOf(record) } as const;
  const nothing = { eval: null, content: null, params: null, score: null, passed: null, data: null };
  const { value, error } = readOutcome(scoreRecord, record, context);
  if (value === undefined) return { ...about, ...nothing, status: 'open', detail: error?.message ?? '' };
  const { eval: type = null, content, params, score, passed, detail, data } = value;
  const short = (json: Json | undefined) =>
    json === undefined ? null : shortenJson(json, context.maxCharacters);
  return {
    ...about,
    ...{ status: 'ok', eval: type, content: short(content), params: short(params) },
    ...{ score, passed, detail, data: short(data) },
  };
}

function timesOf({ attempts, beganAt, endedAt }: StepRecord) {
  // Not negative when the clock was set back meanwhile.
  return { attempts, duration_ms: endedAt === null ? null : Math.max(0, endedAt - beganAt) };
}

interface ReadOutcome<Value> {
  readonly value?: Value;
  readonly error?: Fault;
}

/** Nothing for work that was begun and has not ended. */
function readOutcome<Value>(
  kind: RecordKind<Value>,
  { step, outcome }: StepRecord,
  { runId }: WorkContext,
): ReadOutcome<Value> {
  if (outcome === null) return {};
  try {
    return { value: readRecord(kind, outcome, { run: runId, step }) };
  } catch (thrown) {
    return { error: toFault(thrown) };
  }
}
