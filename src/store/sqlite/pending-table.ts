import type { PendingCall, PendingDecision, PendingOrigin, PendingRecord } from '../../contract/approval.ts';
import type { Store } from '../store.ts';
import {
  DamagedError,
  enumOf,
  jsonOf,
  jsonOrNull,
  numberOf,
  numberOrNull,
  type Row,
  textOf,
  textOrNull,
} from './row.ts';
import { parentFromRow, parentOfCall } from './run-list/parents.ts';
import { decodeText, type Preparing, type Values } from './statement.ts';

export type PendingTable = ReturnType<typeof createPendingTable>;

/** The statements over calls that wait for a person. What changes something needs a write transaction. */
export function createPendingTable({ prepare }: Preparing) {
  const insert = prepare(`
    INSERT INTO pendings (id, run_id, step, call_id, tool, args, origin, hook, reason, message, members,
      previous, created_at, expires_at, quorum)
    VALUES (:id, :run_id, :step, :call_id, :tool, :args, :origin, :hook, :reason, :message, :members,
      :previous, :created_at, :expires_at, :quorum)`);
  const find = prepare(`${whole} WHERE id = :id`);
  const newest = prepare(newestTime);
  const all = prepare(`${whole} ORDER BY seq`);
  const open = prepare(`${whole} WHERE ruling IS NULL ORDER BY seq`);
  const ofRun = prepare(`${whole} WHERE run_id = :run_id ORDER BY seq`);
  const ofAll =
    prepare(`${whole} WHERE run_id = :run_id OR run_id IN (SELECT id FROM run_parents WHERE root = :run_id)
    ORDER BY seq`);
  const expired = prepare(`
    SELECT id FROM runs WHERE status IN ('running', 'pending')
      AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)
      AND EXISTS (SELECT 1 FROM pendings WHERE run_id = runs.id AND ruling = 'expired')
      AND NOT EXISTS (SELECT 1 FROM pendings WHERE run_id = runs.id AND ruling IS NULL)
    ORDER BY seq`);
  const due = prepare('SELECT 1 FROM pendings WHERE ruling IS NULL AND expires_at <= :at LIMIT 1');
  const expire = prepare(`
    UPDATE pendings SET ruling = 'expired', decided_at = expires_at WHERE ruling IS NULL AND expires_at <= :at`);
  const decisionColumns = `SET ruling = :ruling, ruled_by = :ruled_by, ruling_reason = :ruling_reason,
    edited_args = :edited_args, result = :result, decided_at = :decided_at`;
  const decide = prepare(`UPDATE pendings ${decisionColumns} WHERE id = :id AND ruling IS NULL`);
  const quorum = prepare('SELECT quorum FROM pendings WHERE id = :id AND ruling IS NULL AND quorum > 1');
  const consent = prepare(`INSERT INTO consents (pending_id, name, reason, given_at)
    VALUES (:pending_id, :name, :reason, :given_at) ON CONFLICT (pending_id, name) DO NOTHING`);
  const count = prepare('SELECT count(*) AS given FROM consents WHERE pending_id = :pending_id');
  const decideOpen = prepare(`UPDATE pendings ${decisionColumns} WHERE ruling IS NULL
    AND (run_id = :run_id OR run_id IN (SELECT id FROM run_parents WHERE root = :run_id))`);
  return {
    insert: (row: Values) => void insert.run(row),
    findRow: (id: string): Row | undefined => find.get({ id }),
    find: (id: string): PendingRecord | undefined => {
      const row = find.get({ id });
      return row && recordFromRow(row);
    },
    list: (filter: Parameters<Store['listPendings']>[0]): PendingRecord[] => {
      const { runId, below = false } = filter;
      const unfiltered = filter.open === true ? open : all;
      const ofOne = below ? ofAll : ofRun;
      return (runId === undefined ? unfiltered.all() : ofOne.all({ run_id: runId }))
        .filter((row) => filter.open === undefined || (row['ruling'] === null) === filter.open)
        .map(recordFromRow);
    },
    /** Ids of runs that have not ended, in which a call has expired and none is open. */
    runsExpired: () => expired.all().map((row) => textOf(row, 'id')),
    /** Whether an open call has expired at `at`. */
    hasDue: (at: number) => due.get({ at }) !== undefined,
    /** Decides calls that have expired at `at` as `expired`, at the time of their expiry. */
    expireDue: (at: number) => void expire.run({ at }),
    /**
     * Stores the decision if the call is open; returns whether it was. Of an approval that is one of several the call stays open
     * until the last.
     */
    decide: (id: string, by: PendingDecision, at: number) => {
      const needed = by.kind === 'approved' ? quorum.get({ id }) : undefined;
      if (needed !== undefined && by.kind === 'approved') {
        consent.run({ pending_id: id, name: by.by, reason: by.reason, given_at: at });
        const given = numberOf(count.get({ pending_id: id }) ?? {}, 'given');
        if (given < numberOf(needed, 'quorum')) return true;
      }
      return decide.run({ id, ...decisionToRow(by), decided_at: at }) === 1;
    },
    /** The newest time that is kept of anything but what is yet to come, ms since 1970. */
    newestTime: (): number => numberOf(newest.get() ?? {}, 'newest'),
    /** Stores the decision for every open call of the run, and of those below it. */
    decideOpen: (runId: string, by: PendingDecision, at: number) =>
      void decideOpen.run({ run_id: runId, ...decisionToRow(by), decided_at: at }),
  };
}

/** The columns of a new call that waits. */
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

/** Every kept time of what has happened. */
const storedTimes: readonly { readonly table: string; readonly column: string }[] = [
  { table: 'runs', column: 'created_at' },
  { table: 'runs', column: 'updated_at' },
  { table: 'steps', column: 'began_at' },
  { table: 'steps', column: 'ended_at' },
  { table: 'pendings', column: 'created_at' },
  { table: 'pendings', column: 'decided_at' },
  { table: 'consents', column: 'given_at' },
];

/** Sets what is later than that time back to it; returns how many times that were. Needs a write transaction. */
export function resetTimes({ prepare }: Preparing, now: number): number {
  const counts = storedTimes.map(({ table, column }) =>
    prepare(`UPDATE ${table} SET ${column} = :now WHERE ${column} > :now`).run({ now }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A row named `newest`; 0 of an empty store. */
export const newestTime = `SELECT max(${storedTimes
  .map(({ table, column }) => `(SELECT coalesce(max(${column}), 0) FROM ${table})`)
  .join()}) AS newest`;

/** With who has approved it, as JSON. */
const whole = `SELECT *, (SELECT json_group_array(json_object('name', name, 'reason', reason, 'given_at', given_at))
  FROM (SELECT * FROM consents WHERE pending_id = pendings.id ORDER BY seq)) AS consents, ${parentOfCall} FROM pendings`;

const origins: readonly PendingOrigin[] = ['tool', 'hook', 'approval', 'interrupted'];

/** Throws Damaged. */
export function recordFromRow(row: Row): PendingRecord {
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

/** How many must approve, and who has, with their texts as they are kept. */
function quorumFromRow(row: Row): Pick<PendingRecord, 'quorum' | 'consents'> {
  const quorum = row['quorum'] === undefined ? null : numberOrNull(row, 'quorum');
  if (quorum === null) return {};
  const kept: unknown = JSON.parse(textOrNull(row, 'consents') ?? '[]');
  if (!Array.isArray(kept)) throw new DamagedError('consents are no list');
  const consents = kept.map((each: Readonly<Record<string, unknown>>) => ({
    by: decodeText(String(each['name'])),
    reason: decodeText(String(each['reason'])),
    at: Number(each['given_at']),
  }));
  return { quorum, ...(consents.length > 0 && { consents }) };
}

/** The columns of a decision. */
export function decisionToRow(decision: PendingDecision) {
  const by = 'by' in decision ? decision.by : null;
  const reason = 'reason' in decision ? decision.reason : null;
  const args = decision.kind === 'approved' ? (decision.args?.text ?? null) : null;
  const result = decision.kind === 'responded' ? decision.result.text : null;
  return { ruling: decision.kind, ruled_by: by, ruling_reason: reason, edited_args: args, result };
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
