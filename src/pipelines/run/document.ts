import { createHash } from 'node:crypto';
import type { Fault } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { isObject, type Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import {
  isQuestion,
  type PendingDocument,
  type PendingInfo,
  type PendingNotice,
  type PendingRecord,
  placeOfStep,
} from '../../contract/approval.ts';
import type {
  RunDetails,
  RunDocument,
  RunInfo,
  RunSummary,
  RunTotals,
  StepDocument,
  TimelineEntry,
} from '../../contract/run.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import type {
  RunSummary as ListedRun,
  PlacedPending,
  RunHistoryEntry,
  RunRecord,
  StepRecord,
} from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import { readRecord } from '../state/record.ts';
import { splitName } from '../state/retries.ts';
import { belowRecord } from '../state/run-below.ts';
import { type StepEntry, stepEntryOf } from '../state/step-outcome.ts';

/** `steps` in the order in which they ended; the pending ones follow. */
export function toRunDocument(
  run: RunRecord,
  steps: readonly StepDocument[],
  pendings: readonly PendingRecord[],
): RunDocument {
  const open = pendings.filter(({ ruling }) => ruling === null);
  const waiting = new Map(open.map(toWaitingStep).map((waiting) => [waiting.step, waiting]));
  const error = errorOf(run);
  return toDocument<RunDocument>({
    run_id: run.id,
    status: run.status,
    output: run.output,
    pending: open.map(toNotice),
    steps: [...steps, ...waiting.values()],
    ...(error && { error }),
    ...toSetDown(run),
  });
}

function errorOf({ status, error, suspension }: RunRecord): Fault | null {
  return status === 'suspended' ? (suspension?.error ?? null) : error;
}

function toSetDown({
  status,
  suspension,
}: Pick<RunRecord, 'status' | 'suspension'>): Pick<RunInfo, 'suspended' | 'waits_until'> {
  if (suspension === undefined || status === 'running' || isEnded(status)) return {};
  const { why, since, tries, dueAt, error } = suspension;
  if (why === 'wait' || error === null) return { waits_until: iso(dueAt) };
  return { suspended: { since: iso(since), tries, due_at: iso(dueAt), error } };
}

export function toStepDocuments(run: RunRecord, steps: readonly StepRecord[]): StepDocument[] {
  return steps.flatMap((record) => {
    const entry = stepEntryOf(run, record);
    return entry === undefined ? [] : [toStepDocument(record.step, entry)];
  });
}

export function toStepDocument(step: string, entry: StepEntry): StepDocument {
  const { kind, status, durationMs, error, view } = entry;
  const failures = failuresOf(view);
  const runId = kind === 'pipeline' ? exactMembers(view).get('run_id')?.value : undefined;
  return {
    ...{ step, kind, status, duration_ms: durationMs },
    ...(typeof runId === 'string' && { run_id: runId }),
    ...(failures.length > 0 && { failed_open: failures }),
    ...(error && { error }),
  };
}

function failuresOf(view: Json): readonly FailedOpen[] {
  // The view may be long, so only these members are read.
  const members = exactMembers(view);
  const ofChat = members.get('failed_open')?.value;
  if (Array.isArray(ofChat)) return ofChat;
  const metadata = members.get('metadata');
  return isObject(metadata?.value) ? failedOpenIn(metadata) : [];
}

function toWaitingStep(record: PendingRecord): StepDocument {
  const { step, parent, runId } = record;
  if (parent !== undefined)
    return { step: parent.step, kind: 'pipeline', status: 'pending', duration_ms: 0, run_id: runId };
  if (isQuestion(record))
    return { step: step.replace(/\/ask$/, ''), kind: 'ask', status: 'pending', duration_ms: 0 };
  const [, tool, chat] =
    /^(.*?)(?:\/retry-\d+)?\/call$|^(.*)\/attempt-\d+\/round-\d+\/call-\d+$/.exec(step) ?? [];
  if (chat !== undefined) return { step: chat, kind: 'chat', status: 'pending', duration_ms: 0 };
  return { step: tool ?? step, kind: 'tool', status: 'pending', duration_ms: 0 };
}

function toNotice(record: PendingRecord): PendingNotice {
  const { id, tool, reason, message, expiresAt, parent } = record;
  return {
    ...{ id, tool, step: placeOfStep(record.step, record), reason, message },
    expires_at: expiresAt === null ? null : iso(expiresAt),
    ...(parent && { root_run_id: parent.root }),
  };
}

export function toPendingDocument(record: PendingRecord): PendingDocument {
  return toDocument<PendingDocument>(pendingMembers(record));
}

/** A digest of all that a decision depends on. */
export function digestOfPending({ id, args, consents = [], ruling }: PendingRecord): string {
  const parts = [id, args.text, consents.map(({ by, at }) => [by, at]), ruling?.kind ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

export function toPendingInfo(
  { record, run, caller, principal }: PlacedPending,
  about: Pick<PendingInfo, 'digest' | 'deciders' | 'choices' | 'input_schema' | 'use' | 'args_cut'>,
): PendingInfo {
  const { kind, name, labels = {} } = run;
  const value = caller?.value;
  return toDocument<PendingInfo>({
    ...pendingMembers(record),
    ...about,
    run: { kind, name, labels },
    caller: isObject(value) ? { agent: name, ...value } : principal === null ? null : { principal },
  });
}

function pendingMembers(record: PendingRecord) {
  const { runId, callId, args, origin, hook, members, previous, createdAt, ruling, decidedAt } = record;
  const { quorum, consents = [] } = record;
  return {
    ...toNotice(record),
    run_id: runId,
    call_id: callId,
    args,
    origin,
    hook,
    members,
    previous,
    created_at: iso(createdAt),
    status: ruling?.kind ?? ('open' as const),
    ...(quorum !== undefined && {
      quorum,
      approvals: consents.map(({ at, ...consent }) => ({ ...consent, at: iso(at) })),
    }),
    by: ruling !== null && 'by' in ruling ? ruling.by : null,
    decision_reason: ruling !== null && 'reason' in ruling ? ruling.reason : null,
    edited_args: ruling?.kind === 'approved' ? ruling.args : null,
    result: ruling?.kind === 'responded' ? ruling.result : null,
    decided_at: decidedAt === null ? null : iso(decidedAt),
  };
}

export function toRunInfo(run: Omit<ListedRun, 'place'>): RunInfo {
  return {
    run_id: run.id,
    kind: run.kind,
    name: run.name,
    file: run.file,
    status: run.status,
    created_at: iso(run.createdAt),
    updated_at: iso(run.updatedAt),
    pending: run.open,
    ...(run.labels && { labels: run.labels }),
    ...(run.parent && {
      parent: { run_id: run.parent.id, root_run_id: run.parent.root, step: run.parent.step },
    }),
    ...toSetDown(run),
    ...(run.lacksWorker === true && { lacks_worker: true }),
  };
}

interface RunHistory extends History {
  readonly totals: RunTotals;
  readonly isCut: boolean;
  readonly children: Pick<RunDetails, 'children' | 'children_cut'>;
}

/** `pendings` wait for a person; `open` is the number of all that do. */
export function toRunSummary(run: RunRecord, pendings: readonly PendingRecord[], open: number): RunSummary {
  return toDocument<RunSummary>(summaryMembers(run, pendings, open));
}

function summaryMembers(run: RunRecord, pendings: readonly PendingRecord[], open: number) {
  return {
    ...toRunInfo({ ...run, open }),
    input: run.input,
    output: run.output,
    error: errorOf(run),
    pendings: pendings.map(toNotice),
  };
}

export function toRunDetails(
  run: RunRecord,
  { entries, pendings, moments, totals, isCut, children }: RunHistory,
): RunDetails {
  const open = pendings.filter(({ ruling }) => ruling === null);
  return toDocument<RunDetails>({
    ...summaryMembers(run, open, open.length),
    timeline: toTimeline(run, {
      entries,
      moments,
      pendings: pendings.filter(({ runId }) => runId === run.id),
    }),
    ...(isCut && ({ timeline_cut: true } as const)),
    totals,
    ...children,
  });
}

interface History {
  readonly entries: readonly KeyedTimelineEntry[];
  readonly pendings: readonly PendingRecord[];
  readonly moments: readonly RunHistoryEntry[];
}

/** Keeps the stored order, since clocks are adjusted and differ between machines. */
function toTimeline(run: RunRecord, { entries, pendings, moments }: History): TimelineEntry[] {
  const positions = new Map(moments.map(({ what, subject }, place) => [`${what} ${subject}`, place]));
  const positionOf = ({ key }: KeyedTimelineEntry) => positions.get(key) ?? moments.length;
  const between = [...entries, ...pendings.flatMap(toPendingEntries)].toSorted(
    (one, other) => positionOf(one) - positionOf(other) || one.at - other.at,
  );
  const started = { at: iso(run.createdAt), what: 'started', step: null, detail: run.name } as const;
  const ended = { at: iso(run.updatedAt), what: 'ended', step: null, detail: run.status } as const;
  return [
    started,
    ...between.map(({ key: _, at, ...entry }) => ({ at: iso(at), ...entry })),
    ...(isEnded(run.status) ? [ended] : []),
  ];
}

/** `key` names its place in the history of the run. */
export interface KeyedTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly at: number;
  readonly key: string;
}

export function toStepEntries(run: RunRecord, record: StepRecord): KeyedTimelineEntry[] {
  const { step: stored, attempts, beganAt, endedAt } = record;
  const { path: step } = splitName(stored);
  if (/^@retry\//.test(step))
    return [{ key: `ended ${stored}`, at: beganAt, what: 'retried', step: null, detail: '' }];
  const entry = stepEntryOf(run, record);
  const often = attempts > 1 ? `begun ${attempts} times` : '';
  const began: KeyedTimelineEntry = {
    key: `began ${stored}`,
    at: beganAt,
    what: 'step began',
    step,
    detail: often,
  };
  if (endedAt === null) return [began];
  const detail =
    entry === undefined
      ? runOf(run.id, record)
      : `${entry.status}${entry.error ? `: ${entry.error.message}` : ''}`;
  const ended: KeyedTimelineEntry = { key: `ended ${stored}`, at: endedAt, what: 'step ended', step, detail };
  return attempts === 0 ? [ended] : [began, ended];
}

function runOf(run: string, { step, outcome }: StepRecord): string {
  if (outcome === null || !/\/run(?:~\d+)?$/.test(step)) return '';
  return readRecord(belowRecord, outcome, { run, step }).run_id;
}

function toPendingEntries({
  id,
  step,
  message,
  createdAt,
  decidedAt,
  ruling,
}: PendingRecord): KeyedTimelineEntry[] {
  const detail = `${id}: ${message}`;
  const opened: KeyedTimelineEntry = { key: `pending ${id}`, at: createdAt, what: 'pending', step, detail };
  if (ruling === null || decidedAt === null) return [opened];
  const by = 'by' in ruling && ruling.by !== '' ? ` by ${ruling.by}` : '';
  const decision = `${id}: ${ruling.kind}${by}`;
  return [opened, { key: `decided ${id}`, at: decidedAt, what: 'decided', step, detail: decision }];
}

/** Formats a time in ms since 1970 for documents. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
