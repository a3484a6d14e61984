import { type Json, stringifyJson } from '../base/json/json.ts';
import type {
  PendingCall,
  PendingDecision,
  PendingOrigin,
  PendingRecord,
  RunParent,
} from '../contract/approval.ts';
import type { RunLabels, RunStatus } from '../contract/run.ts';
import { fromKeptRecord } from './sqlite/record-parts.ts';
import {
  DamagedError,
  decodeText,
  encodeText,
  enumOf,
  faultOrNull,
  jsonOf,
  jsonOrNull,
  numberOf,
  numberOrNull,
  type Row,
  textOf,
  textOrNull,
  verifySum,
} from './sqlite/row.ts';
import type {
  NewRun,
  PendingCount,
  PlacedPending,
  RunChange,
  RunHistoryEntry,
  RunRecord,
  RunSummary,
  StepRecord,
} from './store.ts';
import { endedStatuses } from './store-rules.ts';
import { keptStatus, statusWith, suspensionFromRow } from './suspension.ts';

// Converts between what a state store keeps and rows of its tables. The readers throw DamagedError.

/** Throws STORE_FAILED. */
export type TextLoader = (runId: string) => (step: string, number: number) => string;

/** The step of a run's output; no step has this name. */
export const OUTPUT = '/output';

export function runToRow({ id, kind, name, file, source, config, input, createdAt }: NewRun) {
  return { id, kind, name, file, source, config, input: input.text, created_at: createdAt };
}

export function labelsToText(labels: RunLabels | undefined): string | null {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, encodeText(value)])));
}

export function kinToText({ parent, pipelines = {} }: Pick<NewRun, 'parent' | 'pipelines'>): string | null {
  const texts = Object.entries(pipelines).map(([file, text]) => [encodeText(file), encodeText(text)]);
  if (parent === undefined && texts.length === 0) return null;
  return JSON.stringify({ ...parent, pipelines: Object.fromEntries(texts) });
}

export function changeToRow({ status, output, error, at }: RunChange, outputText: string | undefined) {
  return {
    status: keptStatus(status),
    at,
    keep_output: output === undefined ? 1 : 0,
    output: outputText ?? null,
    keep_error: error === undefined ? 1 : 0,
    error: error ? stringifyJson(error) : null,
  };
}

/** `output` replaces the output columns if the output is stored in parts. */
export function runFromRow(row: Row, output: Json | undefined): RunRecord {
  const { suspension } = suspensionFromRow(row);
  const pipelines = textsIn(row, 'pipelines');
  return {
    ...aboutRun(row, suspension),
    source: textOf(row, 'source'),
    config: textOf(row, 'config'),
    input: jsonOf(row, 'input'),
    output: output ?? jsonOrNull(row, 'output'),
    error: faultOrNull(row, 'error'),
    ...(pipelines && { pipelines }),
    ...(typeof row['build'] === 'string' && { build: row['build'] }),
  };
}

export function summaryFromRow(row: Row): RunSummary {
  const { suspension } = suspensionFromRow(row);
  return {
    ...aboutRun(row, suspension),
    open: numberOf(row, 'open'),
    place: numberOf(row, 'seq'),
    ...(row['lacks_worker'] === true && { lacksWorker: true }),
  };
}

function aboutRun(row: Row, suspension: RunRecord['suspension']) {
  const labels = textsIn(row, 'labels');
  return {
    id: textOf(row, 'id'),
    kind: enumOf<NewRun['kind']>(row, 'kind', ['pipeline', 'tool']),
    name: textOf(row, 'name'),
    file: textOrNull(row, 'file'),
    status: statusWith(statusFromRow(row), suspension),
    createdAt: numberOf(row, 'created_at'),
    updatedAt: numberOf(row, 'updated_at'),
    ...(suspension && { suspension }),
    ...(labels && { labels }),
    ...parentFromRow(row),
  };
}

export function statusFromRow(row: Row): RunStatus {
  return enumOf<RunStatus>(row, 'status', ['queued', 'running', 'pending', ...endedStatuses]);
}

function textsIn(row: Row, column: string): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(memberOf(row, column) ?? {});
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, text]) => [decodeText(key), decodeText(String(text))]));
}

function parentFromRow(row: Row): { readonly parent?: RunParent } {
  const kept = memberOf(row, 'kin');
  if (kept === undefined) return {};
  const { id, root, step } = kept;
  if (typeof id !== 'string' || typeof root !== 'string' || typeof step !== 'string')
    throw new DamagedError('the parent of a run is not valid');
  return { parent: { id, root, step } };
}

function memberOf(row: Row, column: string): Readonly<Record<string, unknown>> | undefined {
  const text = row[column] === undefined ? null : textOrNull(row, column);
  if (text === null) return undefined;
  const kept: unknown = JSON.parse(text);
  if (typeof kept !== 'object' || kept === null) throw new DamagedError(`${column} is not an object`);
  return { ...kept };
}

export function stepFromRow(row: Row, refs: string | undefined, load: TextLoader): StepRecord {
  verifySum(row, { key: 'step', text: 'outcome', of: textOf(row, 'step') });
  const runId = textOf(row, 'run_id');
  const kept = textOrNull(row, 'outcome');
  return {
    step: textOf(row, 'step'),
    attempts: numberOf(row, 'attempts'),
    outcome:
      refs === undefined || kept === null
        ? jsonOrNull(row, 'outcome')
        : fromKeptRecord(kept, refs, { runId, load: load(runId) }),
    beganAt: numberOf(row, 'began_at'),
    endedAt: numberOrNull(row, 'ended_at'),
  };
}

export function refsFromRow(row: Row): string {
  verifySum(row, { key: 'step', text: 'refs', of: textOf(row, 'step') });
  return textOf(row, 'refs');
}

export function textFromRow(row: Row | undefined, step: string): string {
  if (row === undefined) throw new DamagedError(`a text of ${step} is missing`);
  verifySum(row, { key: 'step', text: 'text', of: step });
  return textOf(row, 'text');
}

export function entryFromRow(row: Row): RunHistoryEntry {
  const what = enumOf<RunHistoryEntry['what']>(row, 'what', ['began', 'ended', 'pending', 'decided']);
  return { what, subject: textOf(row, 'subject') };
}

export function callToRow(call: PendingCall) {
  return {
    id: call.id,
    run_id: call.runId,
    step: call.step,
    call_id: call.callId,
    tool: call.tool,
    args: call.args.text,
    origin: call.origin,
    hook: call.hook,
    reason: call.reason,
    message: call.message,
    members: call.members.text,
    previous: call.previous,
    created_at: call.createdAt,
    expires_at: call.expiresAt,
    quorum: call.quorum ?? null,
  };
}

export function decisionToRow(decision: PendingDecision) {
  const by = 'by' in decision ? decision.by : null;
  const reason = 'reason' in decision ? decision.reason : null;
  const args = decision.kind === 'approved' ? (decision.args?.text ?? null) : null;
  const result = decision.kind === 'responded' ? decision.result.text : null;
  return { ruling: decision.kind, ruled_by: by, ruling_reason: reason, edited_args: args, result };
}

const origins: readonly PendingOrigin[] = ['tool', 'hook', 'approval', 'interrupted'];

export function callFromRow(row: Row): PendingRecord {
  return {
    id: textOf(row, 'id'),
    runId: textOf(row, 'run_id'),
    step: textOf(row, 'step'),
    callId: textOf(row, 'call_id'),
    tool: textOf(row, 'tool'),
    args: jsonOf(row, 'args'),
    origin: enumOf(row, 'origin', origins),
    hook: textOrNull(row, 'hook'),
    reason: textOf(row, 'reason'),
    message: textOf(row, 'message'),
    members: jsonOf(row, 'members'),
    previous: textOrNull(row, 'previous'),
    createdAt: numberOf(row, 'created_at'),
    expiresAt: numberOrNull(row, 'expires_at'),
    ruling: row['ruling'] === null ? null : decisionFromRow(row),
    decidedAt: numberOrNull(row, 'decided_at'),
    ...quorumFromRow(row),
    ...parentFromRow(row),
  };
}

export function placedCallFromRow(row: Row, hasContinued: boolean): PlacedPending {
  const labels = textsIn(row, 'labels');
  return {
    record: callFromRow(row),
    place: numberOf(row, 'seq'),
    run: {
      kind: enumOf<NewRun['kind']>(row, 'run_kind', ['pipeline', 'tool']),
      name: textOf(row, 'run_name'),
      ...(labels && { labels }),
    },
    caller: jsonOrNull(row, 'caller'),
    principal: textOrNull(row, 'principal'),
    runStatus: enumOf<RunStatus>(row, 'own_status', ['queued', 'running', 'pending', ...endedStatuses]),
    hasContinued,
  };
}

export function countFromRow(row: Row): PendingCount {
  const status = row['ruling'] === null ? 'open' : enumOf(row, 'ruling', kinds);
  return { tool: textOf(row, 'tool'), status, count: numberOf(row, 'count') };
}

function quorumFromRow(row: Row): Pick<PendingRecord, 'quorum' | 'consents'> {
  const quorum = row['quorum'] === undefined ? null : numberOrNull(row, 'quorum');
  if (quorum === null) return {};
  const kept: unknown = JSON.parse(textOrNull(row, 'consents') ?? '[]');
  if (!Array.isArray(kept)) throw new DamagedError('consents are not a list');
  const consents = kept.map((each: Readonly<Record<string, unknown>>) => ({
    by: decodeText(String(each['name'])),
    reason: decodeText(String(each['reason'])),
    at: Number(each['given_at']),
  }));
  return { quorum, ...(consents.length > 0 && { consents }) };
}

const kinds: readonly PendingDecision['kind'][] = [
  'approved',
  'rejected',
  'responded',
  'expired',
  'cancelled',
];

function decisionFromRow(row: Row): PendingDecision {
  const kind = enumOf(row, 'ruling', kinds);
  if (kind === 'expired') return { kind };
  const by = textOf(row, 'ruled_by');
  const reason = textOf(row, 'ruling_reason');
  switch (kind) {
    case 'approved':
      return { kind, args: jsonOrNull(row, 'edited_args'), by, reason };
    case 'responded':
      return { kind, result: jsonOf(row, 'result'), by, reason };
    case 'rejected':
    case 'cancelled':
      return { kind, by, reason };
  }
}
