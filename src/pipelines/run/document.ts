import type { Fault } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { isObject, type Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import {
  isQuestion,
  type PendingDocument,
  type PendingNotice,
  type PendingRecord,
  placeOfStep,
} from '../../contract/approval.ts';
import type { RunDetails, RunDocument, RunInfo, RunTotals, StepDocument } from '../../contract/run.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import type { RunRecord, RunSummary, StepRecord } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';
import { stepEntryOf } from '../state/step-outcome.ts';
import { type History, iso, toTimeline } from './timeline.ts';

/** The document of a run after an execution: status, output, pending calls and steps. */
export function toRunDocument(
  run: RunRecord,
  steps: readonly StepRecord[],
  pendings: readonly PendingRecord[],
): RunDocument {
  const open = pendings.filter(({ ruling }) => ruling === null);
  const error = errorOf(run);
  return toDocument<RunDocument>({
    run_id: run.id,
    status: run.status,
    output: run.output,
    pending: open.map(toNotice),
    steps: toStepDocuments(run, steps, open),
    ...(error && { error }),
    ...toSetDown(run),
  });
}

/** What ended the run, or suspended it. */
function errorOf({ status, error, suspension }: RunRecord): Fault | null {
  return status === 'suspended' ? (suspension?.error ?? null) : error;
}

/** Why and until when a run is set down. */
function toSetDown({
  status,
  suspension,
}: Pick<RunRecord, 'status' | 'suspension'>): Pick<RunInfo, 'suspended' | 'waits_until'> {
  if (suspension === undefined || status === 'running' || isEnded(status)) return {};
  const { why, since, tries, dueAt, error } = suspension;
  if (why === 'wait' || error === null) return { waits_until: iso(dueAt) };
  return { suspended: { since: iso(since), tries, due_at: iso(dueAt), error } };
}

/** Steps of the file, in the order in which they ended; pending ones after them. */
function toStepDocuments(
  run: RunRecord,
  steps: readonly StepRecord[],
  open: readonly PendingRecord[],
): StepDocument[] {
  const ended = steps.flatMap((record): StepDocument[] => {
    const entry = stepEntryOf(run, record);
    if (entry === undefined) return [];
    const { step } = record;
    const { kind, status, durationMs, error, view } = entry;
    const failures = failuresOf(view);
    const runId = kind === 'pipeline' ? exactMembers(view).get('run_id')?.value : undefined;
    return [
      {
        ...{ step, kind, status, duration_ms: durationMs },
        ...(typeof runId === 'string' && { run_id: runId }),
        ...(failures.length > 0 && { failed_open: failures }),
        ...(error && { error }),
      },
    ];
  });
  // Several calls of one chat may wait: it is one step.
  const waiting = new Map(open.map(toWaitingStep).map((waiting) => [waiting.step, waiting]));
  return [...ended, ...waiting.values()];
}

/** The hooks of the step that failed open. */
function failuresOf(view: Json): readonly FailedOpen[] {
  // Not read whole: it may be long.
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

/** The notice of a pending call in a run document. */
function toNotice(record: PendingRecord): PendingNotice {
  const { id, tool, reason, message, expiresAt, parent } = record;
  return {
    ...{ id, tool, step: placeOfStep(record.step, record), reason, message },
    expires_at: expiresAt === null ? null : iso(expiresAt),
    ...(parent && { root_run_id: parent.root }),
  };
}

/** A pending call as `pending show --json` prints it. */
export function toPendingDocument(record: PendingRecord): PendingDocument {
  const { runId, callId, args, origin, hook, members, previous, createdAt, ruling, decidedAt } = record;
  const { quorum, consents = [] } = record;
  return toDocument<PendingDocument>({
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
    ...(quorum !== undefined && {
      quorum,
      approvals: consents.map(({ at, ...consent }) => ({ ...consent, at: iso(at) })),
    }),
    by: ruling !== null && 'by' in ruling ? ruling.by : null,
    decision_reason: ruling !== null && 'reason' in ruling ? ruling.reason : null,
    edited_args: ruling?.kind === 'approved' ? ruling.args : null,
    result: ruling?.kind === 'responded' ? ruling.result : null,
    decided_at: decidedAt === null ? null : iso(decidedAt),
  });
}

export function toRunInfo(run: Omit<RunSummary, 'place'>): RunInfo {
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

/** What `runs show` tells of a run as a whole. */
interface RunHistory extends History {
  readonly totals: RunTotals;
  /** There are more steps than these. */
  readonly isCut: boolean;
  readonly children: Pick<RunDetails, 'children' | 'children_cut'>;
}

export function toRunDetails(
  run: RunRecord,
  { steps, pendings, moments, totals, isCut, children }: RunHistory,
): RunDetails {
  const open = pendings.filter(({ ruling }) => ruling === null);
  return toDocument<RunDetails>({
    ...toRunInfo({ ...run, open: open.length }),
    input: run.input,
    output: run.output,
    error: errorOf(run),
    pendings: open.map(toNotice),
    timeline: toTimeline(run, { steps, moments, pendings: pendings.filter(({ runId }) => runId === run.id) }),
    ...(isCut && ({ timeline_cut: true } as const)),
    totals,
    ...children,
  });
}
