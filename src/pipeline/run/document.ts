import type { PendingDocument, PendingNotice, PendingRecord } from '../../contract/approval.ts';
import type { RunDetails, RunDocument, RunInfo, StepDocument, TimelineEntry } from '../../contract/run.ts';
import { type FailedOpen, failuresIn } from '../../dialects/metadata.ts';
import { document } from '../../json/exact-document.ts';
import { isObject, Json } from '../../json/json.ts';
import type { RunMoment, RunRecord, StepRecord } from '../../store/store.ts';
import { readStepEntry } from '../state/step-outcome.ts';

/** What a run that has been worked on came to. */
export function toRunDocument(
  run: RunRecord,
  steps: readonly StepRecord[],
  pendings: readonly PendingRecord[],
): RunDocument {
  const status = run.status === 'running' ? 'pending' : run.status;
  const open = pendings.filter(({ ruling }) => ruling === null);
  return document<RunDocument>({
    run_id: run.id,
    status,
    output: run.output,
    pending: open.map(toNotice),
    steps: toStepDocuments(steps, open),
    ...(run.error && { error: run.error }),
  });
}

/** Steps of the file, in the order in which they ended; those that wait for somebody after them. */
function toStepDocuments(steps: readonly StepRecord[], open: readonly PendingRecord[]): StepDocument[] {
  const ended = steps.flatMap(({ step, outcome }): StepDocument[] => {
    const entry = outcome === null ? undefined : readStepEntry(outcome);
    if (entry === undefined) return [];
    const { kind, status, durationMs, error, view } = entry;
    const failures = failuresOf(view);
    return [
      {
        ...{ step, kind, status, duration_ms: durationMs },
        ...(failures.length > 0 && { failed_open: failures }),
        ...(error && { error }),
      },
    ];
  });
  // Several calls of one chat may wait: it is one step.
  const waiting = new Map(open.map(toWaitingStep).map((waiting) => [waiting.step, waiting]));
  return [...ended, ...waiting.values()];
}

/** What failed around the step, and passed by the rules of its dialect. */
function failuresOf({ value }: Json): readonly FailedOpen[] {
  const { failed_open: ofChat, metadata } = isObject(value) ? value : {};
  if (Array.isArray(ofChat)) return ofChat;
  return isObject(metadata) ? failuresIn(Json.from(metadata)) : [];
}

function toWaitingStep({ step }: PendingRecord): StepDocument {
  const [, tool, chat] = /^(.*)\/call$|^(.*)\/attempt-\d+\/round-\d+\/call-\d+$/.exec(step) ?? [];
  if (chat !== undefined) return { step: chat, kind: 'chat', status: 'pending', duration_ms: 0 };
  return { step: tool ?? step, kind: 'tool', status: 'pending', duration_ms: 0 };
}

/** What those who start a run are told of a call that waits. */
export function toNotice({ id, tool, step, reason, message, expiresAt }: PendingRecord): PendingNotice {
  return { id, tool, step, reason, message, expires_at: expiresAt === null ? null : iso(expiresAt) };
}

/** All there is to know of a pending call. */
export function toPendingDocument(record: PendingRecord): PendingDocument {
  const { runId, callId, args, origin, hook, members, previous, createdAt, ruling, decidedAt } = record;
  return document<PendingDocument>({
    ...toNotice(record),
    run_id: runId,
    call_id: callId,
    args,
    origin,
    hook,
    members,
    previous,
    created_at: iso(createdAt),
    status: ruling?.kind ?? 'open',
    by: ruling !== null && 'by' in ruling ? ruling.by : null,
    decision_reason: ruling !== null && 'reason' in ruling ? ruling.reason : null,
    edited_args: ruling?.kind === 'approved' ? ruling.args : null,
    result: ruling?.kind === 'responded' ? ruling.result : null,
    decided_at: decidedAt === null ? null : iso(decidedAt),
  });
}

export function toRunInfo(run: RunRecord, openPendings: number): RunInfo {
  return {
    run_id: run.id,
    kind: run.kind,
    name: run.name,
    file: run.file,
    status: run.status,
    created_at: iso(run.createdAt),
    updated_at: iso(run.updatedAt),
    pending: openPendings,
  };
}

/** All that a store has kept of what happened in a run. */
export interface History {
  readonly steps: readonly StepRecord[];
  readonly pendings: readonly PendingRecord[];
  /** The order in which it happened. */
  readonly moments: readonly RunMoment[];
}

export function toRunDetails(run: RunRecord, { steps, pendings, moments }: History): RunDetails {
  const open = pendings.filter(({ ruling }) => ruling === null);
  return document<RunDetails>({
    ...toRunInfo(run, open.length),
    input: run.input,
    output: run.output,
    error: run.error,
    pendings: open.map(toNotice),
    timeline: toTimeline(run, { steps, pendings, moments }),
  });
}

/** In the order in which it was kept: clocks are set, and those of several machines differ. */
function toTimeline(run: RunRecord, { steps, pendings, moments }: History): TimelineEntry[] {
  const places = new Map(moments.map(({ what, subject }, place) => [`${what} ${subject}`, place]));
  const placeOf = ({ key }: Moment) => places.get(key) ?? moments.length;
  const between = [...steps.flatMap(toMoments), ...pendings.flatMap(toWaits)].toSorted(
    (one, other) => placeOf(one) - placeOf(other) || one.at - other.at,
  );
  const started = { at: iso(run.createdAt), what: 'started', step: null, detail: run.name } as const;
  const ended = { at: iso(run.updatedAt), what: 'ended', step: null, detail: run.status } as const;
  return [
    started,
    ...between.map(({ key: _, at, ...entry }) => ({ at: iso(at), ...entry })),
    ...(run.status === 'running' || run.status === 'pending' ? [] : [ended]),
  ];
}

interface Moment extends Omit<TimelineEntry, 'at'> {
  readonly at: number;
  /** What the store calls it. */
  readonly key: string;
}

function toMoments({ step, attempts, outcome, beganAt, endedAt }: StepRecord): Moment[] {
  const entry = outcome === null ? undefined : readStepEntry(outcome);
  const often = attempts > 1 ? `begun ${attempts} times` : '';
  const began: Moment = { key: `began ${step}`, at: beganAt, what: 'step began', step, detail: often };
  if (endedAt === null) return [began];
  const detail = entry === undefined ? '' : `${entry.status}${entry.error ? `: ${entry.error.message}` : ''}`;
  const ended: Moment = { key: `ended ${step}`, at: endedAt, what: 'step ended', step, detail };
  return attempts === 0 ? [ended] : [began, ended];
}

function toWaits({ id, step, message, createdAt, decidedAt, ruling }: PendingRecord): Moment[] {
  const detail = `${id}: ${message}`;
  const opened: Moment = { key: `pending ${id}`, at: createdAt, what: 'pending', step, detail };
  if (ruling === null || decidedAt === null) return [opened];
  const by = 'by' in ruling && ruling.by !== '' ? ` by ${ruling.by}` : '';
  const decision = `${id}: ${ruling.kind}${by}`;
  return [opened, { key: `decided ${id}`, at: decidedAt, what: 'decided', step, detail: decision }];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
