import { type Fault, toFault } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { Json } from '../../base/json/json.ts';
import type {
  ModelCallDetails,
  ScoreDetails,
  StepDetails,
  StepPage,
  StepsOptions,
  ToolCallDetails,
  WorkDetails,
} from '../../contract/run.ts';
import type { PlacedStep, RunRecord, StepRecord, Store } from '../../store/store.ts';
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
  for (const [step, work] of open) yield toOpen(step, work);
}

interface StepPageQuery extends StepsOptions {
  readonly behind: number | undefined;
  readonly limit: number;
}

type StepReader = Pick<Store, 'pageSteps' | 'listStepsBelow' | 'listStepNames'>;

/**
 * Up to `limit` steps that ended after a place, as `toStepDetails` shows them, and the place of the last one if there
 * are more. Without a place: from the first, with those that have not ended. Throws STORE_FAILED.
 */
export async function readStepPage(
  store: StepReader,
  run: Pick<RunRecord, 'id' | 'status'>,
  { behind, limit, ...options }: StepPageQuery,
): Promise<StepPage & { readonly place: number | undefined }> {
  const found = await findEnded(store, run, { behind, limit: limit + 1, step: options.step });
  const ended = found.slice(0, limit);
  const mayBeOpen = behind === undefined && run.status !== 'completed';
  const isRetried = ended.some(({ retry }) => retry > 0);
  const names = mayBeOpen || isRetried ? await store.listStepNames(run.id) : [];
  const open = mayBeOpen ? findOpen(names, options.step) : [];
  const shown = open.slice(0, MOST_OPEN);

  const context = { runId: run.id, maxCharacters: options.maxCharacters };
  // The work of a step may have begun long before the step ended, on another page.
  const working = ended.filter(({ entry }) => !groupKinds.has(entry.kind)).map(({ path }) => path);
  const records = await store.listStepsBelow(run.id, [...new Set([...working, ...shown])]);
  const work = Map.groupBy(
    records.flatMap((record) => {
      const place = placeOfWork(record.step);
      return place === undefined || stepEntryOf(run, record) !== undefined ? [] : [{ ...place, record }];
    }),
    ({ step }) => step,
  );
  const ends = Map.groupBy(names, ({ step }) => splitName(step).path);
  const workOf = (path: string, until: number) => {
    const since = ends.get(path)?.findLast(({ place }) => place < until)?.place ?? 0;
    const own = work.get(path)?.filter(({ record }) => record.place > since && record.place < until) ?? [];
    return own.map(({ kind, record }) => toWorkDetails(kind, record, context));
  };
  const details = shown.map((path) => ({ path, own: workOf(path, Number.POSITIVE_INFINITY) }));
  const unfinished = details.flatMap(({ path, own }) => (own.length === 0 ? [] : [toOpen(path, own)]));
  return {
    steps: ended.map(({ record, entry, path, retry }) => {
      const own = groupKinds.has(entry.kind) ? [] : workOf(path, record.place);
      return toEnded({ ...record, step: path }, entry, { ...context, work: own, retry });
    }),
    ...(unfinished.length > 0 && { open: unfinished }),
    ...(open.length > shown.length && { open_cut: true }),
    place: found.length > limit ? ended.at(-1)?.record.place : undefined,
  };
}

const MOST_OPEN = 1_000;
const groupKinds: ReadonlySet<StepEntry['kind']> = new Set(['parallel', 'steps', 'for_each', 'while']);

async function findEnded(
  store: StepReader,
  run: Pick<RunRecord, 'id' | 'status'>,
  { behind, limit, step: only }: StepPageQuery,
) {
  const found: { record: PlacedStep; entry: StepEntry; path: string; retry: number }[] = [];
  // Records may be long. A step has at least one, and most have two.
  const most = Math.min(RECORDS, 2 * limit + 10);
  for (let after = behind; found.length < limit; ) {
    const records = await store.pageSteps(run.id, { behind: after, limit: most, part: only });
    for (const record of records) {
      const entry = stepEntryOf(run, record);
      const named = splitName(record.step);
      if (entry !== undefined && (only === undefined || isAsked(named.path, only)))
        found.push({ record, entry, ...named });
    }
    if (records.length < most) break;
    after = records.at(-1)?.place;
  }
  return found.slice(0, limit);
}

const RECORDS = 300;

/** The paths of steps with work after their last end. */
function findOpen(names: readonly Pick<PlacedStep, 'step' | 'place'>[], only: string | undefined): string[] {
  const ends = new Map(names.map(({ step, place }) => [splitName(step).path, place]));
  const open = new Set<string>();
  for (const { step: name, place } of names) {
    // Most work is of an ended step, which stands before its last part, or before that of an attempt.
    const chat = name.lastIndexOf('/attempt-');
    const parent = name.slice(0, Math.max(0, chat < 0 ? name.lastIndexOf('/') : chat));
    if (parent === '' || (ends.get(parent) ?? 0) > place) continue;
    const step = placeOfWork(name)?.step;
    if (step === undefined || step === '@' || (only !== undefined && !isAsked(step, only))) continue;
    if ((ends.get(step) ?? 0) < place) open.add(step);
  }
  return [...open];
}

function toOpen(step: string, work: readonly Tree[]): StepDetails {
  const isPending = work.some((each) => 'status' in each && each.status === 'pending');
  const nothing = { kind: null, duration_ms: null, ended_at: null, view: null };
  return toDocument<StepDetails>({ step, ...nothing, status: isPending ? 'pending' : 'open', work });
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
