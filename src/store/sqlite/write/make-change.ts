import { RuntimeError, toFault } from '../../../base/errors.ts';
import type { RunStatus } from '../../../contract/run.ts';
import {
  AGENT_SOURCE,
  decisionOfEndedRun,
  errorBelow,
  isEnded,
  statusBelow,
  unknownRunError,
} from '../../store-rules.ts';
import type { DueFilter, DueRuns } from '../../suspension.ts';
import { type Connection, transact } from '../connection.ts';
import { createPendingTable, type PendingTable } from '../pending-table.ts';
import { enumOf, numberOrNull, type Row, textOf } from '../row.ts';
import { createParentTable, type ParentTable } from '../run-list/parents.ts';
import { createLabelTable, createRunTable, type LabelTable, type RunTable } from '../run-table.ts';
import { createStatement, type Preparing, type Values } from '../statement.ts';
import { createStepTable, type StepTable } from '../step-table.ts';
import { createTextTable, OUTPUT, type TextTable } from '../text-table.ts';
import type { Answer, Change, PendingRow, StatusChange, StepBegin, StepEnd } from './change.ts';

/** The tables of a state, over one connection. */
export interface Tables {
  readonly location: string;
  readonly runs: RunTable;
  readonly steps: StepTable;
  readonly pendings: PendingTable;
  readonly labels: LabelTable;
  readonly parents: ParentTable;
  readonly texts: TextTable;
  readonly suspensions: SuspensionTable;
}

/** The statements over the tables of a connection. */
export function openTables({ database, location }: Pick<Connection, 'database' | 'location'>): Tables {
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  return {
    location,
    runs: createRunTable({ prepare }),
    steps: createStepTable({ prepare }),
    texts: createTextTable({ prepare }),
    pendings: createPendingTable({ prepare }),
    labels: createLabelTable({ prepare }),
    parents: createParentTable({ prepare }),
    suspensions: createSuspensionTable({ prepare }),
  };
}

/**
 * Makes all of the changes in one transaction, which is on the disk when this returns, or none. One that is refused changes nothing and
 * is in nobody's way. Throws what SQLite says, and STORE_FAILED.
 */
export function makeChanges(
  { database, requireSameFile }: Connection,
  tables: Tables,
  changes: readonly Change[],
): Answer[] {
  requireSameFile();
  return transact(database, () => changes.map((change) => makeOrRefuse(tables, change)));
}

function makeOrRefuse(tables: Tables, change: Change): Answer {
  try {
    return { row: makeChange(tables, change) };
  } catch (error) {
    // Nothing else than a rule of the store is a refusal: after any other fault the whole transaction is void.
    if (!(error instanceof RuntimeError)) throw error;
    return { refusal: toFault(error) };
  }
}

/** Makes one change, within the caller's transaction. Throws what refuses it, and what SQLite says. */
export function makeChange(tables: Tables, change: Change): Row {
  const { runId } = change;
  switch (change.what) {
    case 'create_run':
      return { is_new: createRun(tables, change) ? 1 : 0 };
    case 'begin_step':
      return { attempts: beginStep(tables, runId, change.step) };
    case 'end_step':
      requireStatus(tables, runId);
      endStep(tables, runId, change.step);
      return {};
    case 'add_pending':
      return addPending(tables, runId, change.call);
    case 'set_status':
      return { stands: setStatus(tables, runId, change.change) ? 1 : 0 };
  }
}

function createRun(
  { runs, labels, parents }: Tables,
  { runId, run, labels: given, kin }: Extract<Change, { what: 'create_run' }>,
): boolean {
  const isNew = runs.insert(run);
  if (isNew && given !== null) labels.insert(runId, given);
  if (isNew && kin !== null) parents.insert(runId, kin);
  return isNew;
}

function beginStep(tables: Tables, runId: string, { step, at, unlessCancelled }: StepBegin): number {
  const status = requireStatus(tables, runId);
  if (unlessCancelled && status === 'cancelled')
    throw new RuntimeError('RUN_ENDED', `run ${runId} was cancelled`);
  return tables.steps.begin(runId, step, at);
}

function endStep({ steps, texts }: Tables, runId: string, { step, outcome, at }: StepEnd): void {
  // The first outcome stays, and its parts with it.
  const isFirst = steps.end({ runId, step, outcome: outcome.text, at });
  if (isFirst && outcome.parts !== null) texts.keep(runId, step, outcome.parts);
}

function addPending(tables: Tables, runId: string, { id, at, row }: PendingRow): Row {
  const { pendings } = tables;
  const existing = pendings.findRow(id);
  if (existing !== undefined) return existing;
  const status = requireStatus(tables, runId);
  pendings.insert(row);
  if (isEnded(status)) pendings.decide(id, decisionOfEndedRun(status), at);
  return pendings.findRow(id) ?? throwMissingRow();
}

function setStatus(
  { runs, pendings, texts, parents, suspensions }: Tables,
  runId: string,
  { status, at, row, outputParts, reopens, suspension }: StatusChange,
): boolean {
  if (reopens) return runs.reopen(runId, { status, at });
  if (!runs.change(runId, row)) return false;
  // How often a fault came counts on while the run is tried again.
  if (status !== 'running') suspensions.replace(runId, suspension);
  if (outputParts !== undefined) texts.forget(runId, OUTPUT);
  if (outputParts) texts.keep(runId, OUTPUT, outputParts);
  if (!isEnded(status)) return true;
  pendings.expireDue(at);
  pendings.decideOpen(runId, decisionOfEndedRun(status), at);
  parents.endBelow(runId, { status: statusBelow(status), at, error: errorBelow });
  return true;
}

/** Throws RUN_UNKNOWN. */
function requireStatus({ runs, location }: Tables, id: string): RunStatus {
  const status = runs.statusOf(id);
  if (status === undefined) throw unknownRunError(id, location);
  return status;
}

function throwMissingRow(): never {
  throw new Error('a row that was just written is not there');
}

type SuspensionTable = ReturnType<typeof createSuspensionTable>;

/** The statements over what runs are set down for. What changes something needs a write transaction. */
function createSuspensionTable({ prepare }: Preparing) {
  const remove = prepare('DELETE FROM suspensions WHERE run = (SELECT seq FROM runs WHERE id = :run_id)');
  const insert = prepare(`
    INSERT INTO suspensions (run, why, since, due_at, tries, step, error, calls)
    SELECT seq, :why, :since, :due_at, :tries, :step, :error, :calls FROM runs WHERE id = :run_id`);
  const whole = `SELECT * FROM (${dueRuns}) WHERE due IS NOT NULL ORDER BY seq`;
  const due = prepare(whole);
  const one = prepare(whole.replace('WHERE runs', 'WHERE runs.id = :id AND runs'));
  const next = prepare(`SELECT min(at) AS at FROM (
    SELECT min(due_at) AS at FROM suspensions JOIN runs ON runs.seq = suspensions.run
      WHERE runs.status = 'pending' AND due_at > :at AND NOT ${isBelow}
    UNION ALL SELECT min(expires_at) FROM pendings WHERE ruling IS NULL AND expires_at > :at)`);
  return {
    /** Null: nothing is kept of it. */
    replace: (runId: string, suspension: Values | null): void => {
      remove.run({ run_id: runId });
      if (suspension !== null) insert.run({ run_id: runId, ...suspension });
    },
    due: ({ at, withFaults = false, id }: DueFilter): DueRuns => ({
      runs: (id === undefined ? due : one)
        .all({ at, faults: withFaults ? 1 : 0, ...(id !== undefined && { id }) })
        .map((row) => ({
          id: textOf(row, 'id'),
          why: enumOf(row, 'due', ['fault', 'wait', 'decided', 'running']),
        })),
      nextAt: numberOrNull(next.get({ at }) ?? { at: null }, 'at') ?? undefined,
    }),
  };
}

const isBelow = 'EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)';

/** Whether a run, or one below it, has a call that is so. */
const hasCall = (only: string) => `(EXISTS (SELECT 1 FROM pendings WHERE run_id = runs.id ${only})
        OR EXISTS (SELECT 1 FROM run_parents AS k JOIN pendings ON run_id = k.id WHERE k.root = runs.id ${only}))`;

const dueRuns = `
  SELECT runs.seq, runs.id, CASE
      WHEN runs.status = 'running' THEN 'running'
      WHEN s.due_at <= :at OR (:faults AND s.why = 'fault') THEN s.why
      WHEN (s.why IS NULL OR s.calls)
        AND ${hasCall('')} AND NOT ${hasCall('AND ruling IS NULL')} THEN 'decided'
    END AS due
  FROM runs LEFT JOIN suspensions AS s ON s.run = runs.seq
  WHERE runs.status IN ('running', 'pending') AND NOT ${isBelow}
    AND runs.source <> '${AGENT_SOURCE}'`;
