import { type Fault, toFault } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { Json } from '../../base/json/json.ts';
import type {
  ModelCallDetails,
  ScoreDetails,
  StepDetails,
  StepsOptions,
  ToolCallDetails,
  WorkDetails,
} from '../../contract/run.ts';
import type { RunRecord, StepRecord } from '../../store/store.ts';
import { iso } from '../run/document.ts';
import { answerRecord, scoreRecord } from '../state/answer-record.ts';
import { callRecord } from '../state/call-record.ts';
import { type RecordKind, readRecord } from '../state/record.ts';
import { splitName } from '../state/retries.ts';
import { type StepEntry, stepEntryOf } from '../state/step-outcome.ts';
import { shortenJson } from './shorten-json.ts';
import { isWithin, placeOfWork, type WorkKind } from './step-place.ts';

/** `records` must be in the store's order. Holds only the work of open steps in memory. Throws STORE_FAILED. */
export async function* toStepDetails(
  run: Pick<RunRecord, 'id' | 'status'>,
  records: AsyncIterable<StepRecord>,
  { step: only, maxCharacters }: StepsOptions,
): AsyncGenerator<StepDetails> {
  const context = { runId: run.id, maxCharacters };
  const open = new Map<string, Tree[]>();
  for await (const record of records) {
    const { path: step, retry } = splitName(record.step);
    if (/^@retry\/\d+$/.test(step)) continue;
    const entry = stepEntryOf(run, record);
    if (entry !== undefined) {
      const work = open.get(step) ?? [];
      open.delete(step);
      if (only === undefined || isAsked(step, only))
        yield toEnded({ ...record, step }, entry, { work, maxCharacters, retry });
      continue;
    }
    const place = placeOfWork(record.step);
    if (place === undefined || place.step === '@' || (only !== undefined && !isAsked(place.step, only)))
      continue;
    const work = toWorkDetails(place.kind, record, context);
    const others = open.get(place.step);
    if (others === undefined) open.set(place.step, [work]);
    else others.push(work);
  }
  for (const [step, work] of open) {
    const isPending = work.some((each) => 'status' in each && each.status === 'pending');
    const nothing = { kind: null, duration_ms: null, ended_at: null, view: null };
    yield toDocument<StepDetails>({ step, ...nothing, status: isPending ? 'pending' : 'open', work });
  }
}

type Tree = ReturnType<typeof toWorkDetails>;

/** An id without a path matches the step everywhere, such as in each item of a loop. */
function isAsked(path: string, only: string): boolean {
  return isWithin(path, only) || (/^\w+$/.test(only) && path.split('/').some((part) => partIs(part, only)));
}

function partIs(part: string, id: string): boolean {
  return part === id || part.startsWith(`${id}[`);
}

interface EndedContext {
  readonly work: readonly Tree[];
  readonly maxCharacters: number | undefined;
  readonly retry: number;
}

function toEnded(
  { step, endedAt }: StepRecord,
  { kind, status, durationMs, error, failedAt, view }: StepEntry,
  { work, maxCharacters, retry }: EndedContext,
): StepDetails {
  return toDocument<StepDetails>({
    ...{ step, kind, status, duration_ms: durationMs, ended_at: endedAt === null ? null : iso(endedAt) },
    ...(error && { error }),
    ...(failedAt !== undefined && { failed_at: failedAt }),
    ...(retry > 0 && { retry }),
    view: kind === 'for_each' && maxCharacters !== undefined ? null : shortenJson(view, maxCharacters),
    work,
  });
}

interface WorkContext {
  readonly runId: string;
  readonly maxCharacters: number | undefined;
}

type Exact<Details> = { readonly [Key in keyof Details]: Details[Key] | Json };

function toWorkDetails(kind: WorkKind, record: StepRecord, context: WorkContext): Exact<WorkDetails> {
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
  // Not negative if the clock was set back in the meantime.
  return { attempts, duration_ms: endedAt === null ? null : Math.max(0, endedAt - beganAt) };
}

interface ReadOutcome<Value> {
  readonly value?: Value;
  readonly error?: Fault;
}

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
