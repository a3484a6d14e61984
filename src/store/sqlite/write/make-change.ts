import { RuntimeError, toFault } from '../../../base/errors.ts';
import type { PendingDecision } from '../../../contract/approval.ts';
import type { RunStatus } from '../../../contract/run.ts';
import { decisionToRow, OUTPUT, statusFromRow } from '../../rows.ts';
import {
  decisionOfEndedRun,
  endedInSql,
  errorBelow,
  isEnded,
  statusBelow,
  unknownRunError,
} from '../../store-rules.ts';
import { type Connection, transact } from '../connection.ts';
import { newestTime } from '../inspect.ts';
import type { RecordParts } from '../record-parts.ts';
import { checksumOf, numberOf, type Row, textOf } from '../row.ts';
import { createAsk, createStatement, type Statement } from '../statement.ts';
import type { Answer, Change, PendingRow, StatusChange, StepBegin, StepEnd } from './change.ts';

export interface Tables extends Readonly<Record<keyof typeof statements, Statement>> {
  readonly location: string;
  readonly ask: ReturnType<typeof createAsk>;
}

export function openTables({ database, location }: Pick<Connection, 'database' | 'location'>): Tables {
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  const prepared: Record<string, Statement> = {};
  for (const [name, sql] of Object.entries(statements)) prepared[name] = prepare(sql);
  return { ...(prepared as Record<keyof typeof statements, Statement>), location, ask: createAsk(prepare) };
}

const decisionColumns = `SET ruling = :ruling, ruled_by = :ruled_by, ruling_reason = :ruling_reason,
  edited_args = :edited_args, result = :result, decided_at = :decided_at`;
const ofRunAndBelow = '(run_id = :run_id OR run_id IN (SELECT id FROM run_parents WHERE root = :run_id))';

const statements = {
  findStatus: 'SELECT status FROM runs WHERE id = :id',
  insertRun: `INSERT INTO runs (id, kind, name, file, source, config, input, created_at, status, updated_at)
    VALUES (:id, :kind, :name, :file, :source, :config, :input, :created_at, 'running', :created_at)
    ON CONFLICT (id) DO NOTHING`,
  insertLabels: `INSERT INTO run_labels (run, key, value)
    SELECT runs.seq, given.key, given.value FROM runs, json_each(:labels) AS given WHERE runs.id = :run_id`,
  insertParent: `INSERT INTO run_parents (id, root, parent, step)
    SELECT :id, json_extract(:kin, '$.root'), json_extract(:kin, '$.id'), json_extract(:kin, '$.step')
    WHERE json_extract(:kin, '$.id') IS NOT NULL`,
  insertPipelines: `INSERT INTO run_pipelines (run_id, file, text)
    SELECT :id, key, value FROM json_each(:kin, '$.pipelines')`,
  changeRun: `UPDATE runs SET status = :status, updated_at = :at,
      output = CASE WHEN :keep_output THEN output ELSE :output END,
      error = CASE WHEN :keep_error THEN error ELSE :error END
    WHERE id = :id AND NOT (status IN (${endedInSql}))`,
  reopenRun: `UPDATE runs SET status = :status, updated_at = :at, output = NULL, error = NULL
    WHERE id = :id AND status IN ('failed', 'denied')`,
  endBelow: `UPDATE runs SET status = :status, updated_at = :at, error = :error
    WHERE id IN (SELECT id FROM run_parents WHERE root = :root) AND status IN ('running', 'pending')`,
  removeSuspension: 'DELETE FROM suspensions WHERE run = (SELECT seq FROM runs WHERE id = :run_id)',
  insertSuspension: `INSERT INTO suspensions (run, why, since, due_at, tries, step, error, calls)
    SELECT seq, :why, :since, :due_at, :tries, :step, :error, :calls FROM runs WHERE id = :run_id`,
  beginStep: `INSERT INTO steps (run_id, step, attempts, began_at) VALUES (:run_id, :step, 1, :at)
    ON CONFLICT (run_id, step) DO UPDATE SET attempts = attempts + 1 RETURNING attempts`,
  endStep: `INSERT INTO steps (run_id, step, attempts, outcome, began_at, ended_at, sum)
    VALUES (:run_id, :step, 0, :outcome, :at, :at, :sum)
    ON CONFLICT (run_id, step) DO UPDATE SET outcome = :outcome, ended_at = :at, sum = :sum WHERE ended_at IS NULL`,
  insertText: `INSERT INTO texts (run_id, step, number, sum, text) VALUES (:run_id, :step, :number, :sum, :text)
    ON CONFLICT (run_id, step, number) DO NOTHING`,
  insertParts: `INSERT INTO parts (run_id, step, sum, refs) VALUES (:run_id, :step, :sum, :refs)
    ON CONFLICT (run_id, step) DO UPDATE SET refs = excluded.refs, sum = excluded.sum`,
  removeParts: 'DELETE FROM parts WHERE run_id = :run_id AND step = :step',
  removeTexts: 'DELETE FROM texts WHERE run_id = :run_id AND step = :step',
  readText: 'SELECT step, text, sum FROM texts WHERE run_id = :run_id AND step = :step AND number = :number',
  insertCall: `INSERT INTO pendings (id, run_id, step, call_id, tool, args, origin, hook, reason, message, members,
      previous, created_at, expires_at, quorum)
    VALUES (:id, :run_id, :step, :call_id, :tool, :args, :origin, :hook, :reason, :message, :members,
      :previous, :created_at, :expires_at, :quorum)`,
  expireDue: `UPDATE pendings SET ruling = 'expired', decided_at = expires_at WHERE ruling IS NULL AND expires_at <= :at`,
  findQuorum: 'SELECT quorum FROM pendings WHERE id = :id AND ruling IS NULL AND quorum > 1',
  consent: `INSERT INTO consents (pending_id, name, reason, given_at) VALUES (:pending_id, :name, :reason, :given_at)
    ON CONFLICT (pending_id, name) DO NOTHING`,
  countConsents: 'SELECT count(*) AS given FROM consents WHERE pending_id = :pending_id',
  countOthers: 'SELECT count(*) AS given FROM consents WHERE pending_id = :pending_id AND name <> :by',
  decide: `UPDATE pendings ${decisionColumns} WHERE id = :id AND ruling IS NULL`,
  decideOpen: `UPDATE pendings ${decisionColumns} WHERE ruling IS NULL AND ${ofRunAndBelow}`,
  endedBefore: `SELECT id FROM runs WHERE status IN (${endedInSql}) AND updated_at < :before
    AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)`,
  removeBelow: 'DELETE FROM runs WHERE id IN (SELECT id FROM run_parents WHERE root = :id)',
  removeRun: 'DELETE FROM runs WHERE id = :id',
  newestTime,
} as const;

/**
 * Makes the changes in one transaction, on the disk on return. A refused change changes nothing and does not affect
 * others. Throws errors of SQLite, and STORE_FAILED.
 */
export function makeChanges(
  { database, requireSameFile }: Connection,
  tables: Tables,
  changes: readonly Change[],
): Answer[] {
  requireSameFile();
  return transact(database, () => {
    const statuses: Statuses = new Map();
    return changes.map((change) => {
      try {
        return { row: makeChange(tables, change, statuses) };
      } catch (error) {
        // Only rules of the store are refusals; any other error voids the whole transaction.
        if (!(error instanceof RuntimeError)) throw error;
        return { refusal: toFault(error) };
      }
    });
  });
}

/** The statuses that were read in a transaction, of runs whose status it has not changed since. */
type Statuses = Map<string, RunStatus>;

export function makeChange(tables: Tables, change: Change, statuses: Statuses = new Map()): Row {
  const { runId } = change;
  switch (change.what) {
    case 'create_run':
      return { is_new: createRun(tables, change) ? 1 : 0 };
    case 'begin_step':
      return { attempts: beginStep(tables, requireStatus(tables, runId, statuses), change) };
    case 'end_step':
      requireStatus(tables, runId, statuses);
      endStep(tables, runId, change.step);
      return {};
    case 'add_pending':
      return addPending(tables, change, statuses);
    case 'set_status':
      // The end of a run also ends those below.
      statuses.clear();
      return { stands: setStatus(tables, runId, change.change) ? 1 : 0 };
  }
}

function createRun(
  tables: Tables,
  { runId, run, labels, kin }: Extract<Change, { what: 'create_run' }>,
): boolean {
  const isNew = tables.insertRun.run(run) === 1;
  if (isNew && labels !== null) tables.insertLabels.run({ run_id: runId, labels });
  if (isNew && kin !== null) {
    tables.insertParent.run({ id: runId, kin });
    tables.insertPipelines.run({ id: runId, kin });
  }
  return isNew;
}

function beginStep(
  tables: Tables,
  status: RunStatus,
  { runId, step: { step, at, unlessCancelled } }: { readonly runId: string; readonly step: StepBegin },
): number {
  if (unlessCancelled && status === 'cancelled')
    throw new RuntimeError('RUN_ENDED', `run ${runId} was cancelled`);
  return numberOf(tables.beginStep.get({ run_id: runId, step, at }) ?? {}, 'attempts');
}

function endStep(tables: Tables, runId: string, { step, outcome, at }: StepEnd): void {
  const { text, parts } = outcome;
  const values = { run_id: runId, step, outcome: text, at, sum: checksumOf(step, text) };
  // The first outcome and its parts stay.
  if (tables.endStep.run(values) === 1 && parts !== null) keepTexts(tables, runId, step, parts);
}

function keepTexts(tables: Tables, runId: string, step: string, { refs, texts }: RecordParts): void {
  for (const { number, text } of texts)
    tables.insertText.run({ run_id: runId, step, number, text, sum: checksumOf(step, text) });
  tables.insertParts.run({ run_id: runId, step, refs, sum: checksumOf(step, refs) });
}

function addPending(
  tables: Tables,
  { runId, call: { id, at, row } }: { readonly runId: string; readonly call: PendingRow },
  statuses: Statuses,
): Row {
  const existing = findCall(tables, id);
  if (existing !== undefined) return existing;
  const status = requireStatus(tables, runId, statuses);
  tables.insertCall.run(row);
  if (isEnded(status)) decide(tables, id, decisionOfEndedRun(status), at);
  const added = findCall(tables, id);
  if (added === undefined) throw new Error('a row that was just written is missing');
  return added;
}

export function findCall({ ask }: Tables, id: string): Row | undefined {
  const sql = `SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin
    FROM signalbox.pendings AS p WHERE p.id = :id`;
  return ask({ sql, values: { id } })[0];
}

/** Whether so many people other than the decider have approved the call; always if the number is undefined. */
export function hasApprovals(
  tables: Tables,
  {
    id,
    decision,
    others,
  }: { readonly id: string; readonly decision: PendingDecision; readonly others: number | undefined },
): boolean {
  if (others === undefined) return true;
  const by = 'by' in decision ? decision.by : '';
  return numberOf(tables.countOthers.get({ pending_id: id, by }) ?? {}, 'given') === others;
}

/** Decides an open call; returns whether it was open. A call that needs several approvals stays open until the last. */
export function decide(tables: Tables, id: string, by: PendingDecision, at: number): boolean {
  const needed = by.kind === 'approved' ? tables.findQuorum.get({ id }) : undefined;
  if (needed !== undefined && by.kind === 'approved') {
    tables.consent.run({ pending_id: id, name: by.by, reason: by.reason, given_at: at });
    const given = numberOf(tables.countConsents.get({ pending_id: id }) ?? {}, 'given');
    if (given < numberOf(needed, 'quorum')) return true;
  }
  return tables.decide.run({ id, ...decisionToRow(by), decided_at: at }) === 1;
}

function setStatus(
  tables: Tables,
  runId: string,
  { status, at, row, outputParts, reopens, suspension }: StatusChange,
): boolean {
  if (reopens) return tables.reopenRun.run({ id: runId, status, at }) === 1;
  if (tables.changeRun.run({ id: runId, ...row }) !== 1) return false;
  // The count of failures continues while the run is retried.
  if (status !== 'running') {
    tables.removeSuspension.run({ run_id: runId });
    if (suspension !== null) tables.insertSuspension.run({ run_id: runId, ...suspension });
  }
  if (outputParts !== undefined) {
    tables.removeParts.run({ run_id: runId, step: OUTPUT });
    tables.removeTexts.run({ run_id: runId, step: OUTPUT });
  }
  if (outputParts) keepTexts(tables, runId, OUTPUT, outputParts);
  if (!isEnded(status)) return true;
  tables.expireDue.run({ at });
  tables.decideOpen.run({ run_id: runId, ...decisionToRow(decisionOfEndedRun(status)), decided_at: at });
  tables.endBelow.run({ root: runId, status: statusBelow(status), at, error: errorBelow });
  return true;
}

export function removeRuns(tables: Tables, before: number, held: ReadonlySet<string>): number {
  const old = tables.endedBefore.all({ before }).map((row) => textOf(row, 'id'));
  const free = old.filter((id) => !held.has(id));
  for (const id of free) {
    tables.removeBelow.run({ id });
    tables.removeRun.run({ id });
  }
  return free.length;
}

export function statusOf({ findStatus }: Tables, id: string): RunStatus | undefined {
  const row = findStatus.get({ id });
  return row && statusFromRow(row);
}

function requireStatus(tables: Tables, id: string, statuses: Statuses): RunStatus {
  const status = statuses.get(id) ?? statusOf(tables, id);
  if (status === undefined) throw unknownRunError(id, tables.location);
  statuses.set(id, status);
  return status;
}
