import { type Json, stringifyJson } from '../../base/json/json.ts';
import type { RunLabels, RunStatus } from '../../contract/run.ts';
import type { NewRun, RunChange, RunFilter, RunRecord, RunSummary } from '../store.ts';
import { endedInSql, endedStatuses } from '../store-rules.ts';
import { isOfStatus, keptStatus, statusWith, suspensionColumns, suspensionFromRow } from '../suspension.ts';
import {
  DamagedError,
  enumOf,
  faultOrNull,
  jsonOf,
  jsonOrNull,
  numberOf,
  type Row,
  textOf,
  textOrNull,
} from './row.ts';
import { parentColumn, parentFromRow, pipelinesColumn, pipelinesFromRow } from './run-list/parents.ts';
import { decodeText, encodeText, type Preparing, type Statement, type Values } from './statement.ts';

export type LabelTable = ReturnType<typeof createLabelTable>;

/** The statements over labels of runs. What changes something needs a write transaction. */
export function createLabelTable({ prepare }: Preparing) {
  const insert = prepare(`
    INSERT INTO run_labels (run, key, value)
    SELECT runs.seq, given.key, given.value FROM runs, json_each(:labels) AS given WHERE runs.id = :run_id`);
  return {
    /** Those of a new run, as `labelsToText` has them. */
    insert: (runId: string, labels: string) => void insert.run({ run_id: runId, labels }),
  };
}

/** The labels of the run of a row, as `labelsFromRow` reads them. */
const labelsColumn = `(SELECT json_group_object(key, value)
  FROM (SELECT key, value FROM run_labels WHERE run = runs.seq ORDER BY key)) AS labels`;

/** Labels as one text, each value as a column keeps it; null: there are none. */
export function labelsToText(labels: RunLabels | undefined): string | null {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, encodeText(value)])));
}

/** The member of a run for the labels that its row has. Throws Damaged. */
function labelsFromRow(row: Row): { readonly labels?: RunLabels } {
  const text = row['labels'] === undefined ? null : textOrNull(row, 'labels');
  if (text === null || text === '{}') return {};
  const kept: unknown = JSON.parse(text);
  if (typeof kept !== 'object' || kept === null) throw new DamagedError('labels are no object');
  return {
    labels: Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, decodeText(String(value))])),
  };
}

export type RunTable = ReturnType<typeof createRunTable>;

/** The statements over runs. What changes something needs a write transaction. */
export function createRunTable({ prepare }: Preparing) {
  const insert = prepare(`
    INSERT INTO runs (id, kind, name, file, source, config, input, created_at, status, updated_at)
    VALUES (:id, :kind, :name, :file, :source, :config, :input, :created_at, 'running', :created_at)
    ON CONFLICT (id) DO NOTHING`);
  const find = prepare(`SELECT ${wholeRun}, ${pipelinesColumn} ${fromRuns} WHERE id = :id`);
  const status = prepare('SELECT status FROM runs WHERE id = :id');
  const list = prepare(`SELECT ${wholeRun} ${fromRuns} ORDER BY seq DESC LIMIT :limit`);
  const listOf = prepare(
    `SELECT ${wholeRun} ${fromRuns} WHERE status = :status ORDER BY seq DESC LIMIT :limit`,
  );
  const summaries = new Map<string, Statement>();
  const change = prepare(`
    UPDATE runs SET status = :status, updated_at = :at,
      output = CASE WHEN :keep_output THEN output ELSE :output END,
      error = CASE WHEN :keep_error THEN error ELSE :error END
    WHERE id = :id AND NOT (status IN (${endedInSql}))`);
  const reopen = prepare(`
    UPDATE runs SET status = :status, updated_at = :at, output = NULL, error = NULL
    WHERE id = :id AND status IN ('failed', 'denied')`);
  const old = prepare(`SELECT id FROM runs WHERE status IN (${endedInSql}) AND updated_at < :before
    AND NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)`);
  const removeBelow = prepare('DELETE FROM runs WHERE id IN (SELECT id FROM run_parents WHERE root = :id)');
  const remove = prepare('DELETE FROM runs WHERE id = :id');
  return {
    summarize: (filter: RunFilter): RunSummary[] => {
      const { sql, values } = toSummaryQuery(filter);
      const statement = summaries.get(sql) ?? prepare(sql);
      summaries.set(sql, statement);
      return statement.all(values).map(summaryFromRow);
    },
    /** Whether there was no run of this id before. */
    insert: (run: Values) => insert.run(run) === 1,
    /** `outputOf` reads the output of a run from what is kept of it. */
    find: (id: string, outputOf: OutputReader): RunRecord | undefined => {
      const row = find.get({ id });
      return row && runFromRow(row, outputOf);
    },
    statusOf: (id: string): RunStatus | undefined => {
      const row = status.get({ id });
      return row && statusFromRow(row);
    },
    list: (filter: Pick<RunFilter, 'status' | 'limit'>, outputOf: OutputReader): RunRecord[] => {
      const limit = filter.limit ?? -1;
      const rows =
        filter.status === undefined
          ? list.all({ limit })
          : listOf.all({ status: keptStatus(filter.status), limit });
      return rows.map((row) => runFromRow(row, outputOf));
    },
    /** Whether there is such a run and it had not ended. */
    change: (id: string, wanted: Values) => change.run({ id, ...wanted }) === 1,
    /** Whether it had ended in a way after which it may go on. */
    reopen: (id: string, wanted: { readonly status: RunStatus; readonly at: number }) =>
      reopen.run({ id, ...wanted }) === 1,
    /** The ids of ended runs that were last changed before `before`, and are parts of no other. */
    endedBefore: (before: number) => old.all({ before }).map((row) => textOf(row, 'id')),
    /** With its steps and pending calls, and the runs below it. */
    remove: (id: string) => {
      removeBelow.run({ id });
      remove.run({ id });
    },
  };
}

const wholeRun = `runs.*, ${suspensionColumns}, ${labelsColumn}, ${parentColumn}`;
const fromRuns = 'FROM runs LEFT JOIN suspensions AS s ON s.run = runs.seq';
const statuses: readonly RunStatus[] = ['queued', 'running', 'pending', ...endedStatuses];
const runKinds: readonly NewRun['kind'][] = ['pipeline', 'tool'];

/** The status of a run. Throws Damaged. */
export function statusFromRow(row: Row): RunStatus {
  return enumOf(row, 'status', statuses);
}

/** The columns of a new run. */
export function runToRow({ id, kind, name, file, source, config, input, createdAt }: NewRun) {
  return { id, kind, name, file, source, config, input: input.text, created_at: createdAt };
}

/** The columns that a change of its status sets. */
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

/** What a list shows of a run. Throws Damaged. */
export function summaryFromRow(row: Row): RunSummary {
  const { suspension } = suspensionFromRow(row);
  return {
    id: textOf(row, 'id'),
    kind: enumOf(row, 'kind', runKinds),
    name: textOf(row, 'name'),
    file: textOrNull(row, 'file'),
    status: statusWith(statusFromRow(row), suspension),
    createdAt: numberOf(row, 'created_at'),
    updatedAt: numberOf(row, 'updated_at'),
    ...(suspension && { suspension }),
    open: numberOf(row, 'open'),
    place: numberOf(row, 'seq'),
    ...labelsFromRow(row),
    ...parentFromRow(row),
    ...(row['lacks_worker'] === true && { lacksWorker: true }),
  };
}

/** Undefined: it is kept whole. */
type OutputReader = (runId: string, kept: string) => Json | undefined;

/** A run. Throws Damaged. */
export function runFromRow(row: Row, outputOf: OutputReader): RunRecord {
  const output = textOrNull(row, 'output');
  const { suspension } = suspensionFromRow(row);
  return {
    id: textOf(row, 'id'),
    kind: enumOf(row, 'kind', runKinds),
    name: textOf(row, 'name'),
    file: textOrNull(row, 'file'),
    source: textOf(row, 'source'),
    config: textOf(row, 'config'),
    input: jsonOf(row, 'input'),
    createdAt: numberOf(row, 'created_at'),
    status: statusWith(statusFromRow(row), suspension),
    output: (output === null ? undefined : outputOf(textOf(row, 'id'), output)) ?? jsonOrNull(row, 'output'),
    error: faultOrNull(row, 'error'),
    updatedAt: numberOf(row, 'updated_at'),
    ...(suspension && { suspension }),
    ...labelsFromRow(row),
    ...parentFromRow(row),
    ...pipelinesFromRow(row),
    ...(typeof row['build'] === 'string' && { build: row['build'] }),
  };
}

/** The statement of a list of runs, newest first, without what may be long in them; it is the same text for filters of one shape. */
function toSummaryQuery(filter: RunFilter): { readonly sql: string; readonly values: Values } {
  const { status, name, since, until, after, labels = {}, parent, root, all = false, limit = -1 } = filter;
  const wanted = Object.entries(labels);
  const conditions: string[] = [];
  const values: Record<string, string | number> = { limit };
  const require = (column: string, value: string | number | undefined, condition: string) => {
    if (value === undefined) return;
    conditions.push(condition);
    values[column] = value;
  };
  const ofStatus = status && isOfStatus[status];
  if (ofStatus === undefined) require('status', status, 'runs.status = :status');
  else conditions.push(ofStatus);
  require('name', name, 'runs.name = :name');
  require('since', since, 'runs.created_at >= :since');
  require('until', until, 'runs.created_at < :until');
  const isLed = wanted.length > 0;
  require('after', after, `${isLed ? 'led.run' : 'runs.seq'} < :after`);
  for (const [index, [key, value]] of wanted.entries()) {
    values[`key${index}`] = key;
    values[`value${index}`] = value;
    // The first label leads, in the order of the runs that have it; the others are looked up.
    if (index === 0) conditions.push('led.key = :key0 AND led.value = :value0');
    else conditions.push(hasLabel(index));
  }
  require('parent', parent, 'kin.parent = :parent');
  require('root', root, 'kin.root = :root');
  const isBelow = parent !== undefined || root !== undefined;
  if (!isBelow && !all) conditions.push('NOT EXISTS (SELECT 1 FROM run_parents WHERE id = runs.id)');
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Neither a join nor a filter reads the rows themselves, which may be long.
  const listed = isLed
    ? 'run_labels AS led INDEXED BY runs_labelled CROSS JOIN runs INDEXED BY runs_listed ON runs.seq = led.run'
    : 'runs INDEXED BY runs_listed';
  const from = isBelow
    ? `run_parents AS kin CROSS JOIN runs ON runs.id = kin.id${isLed ? ledOf : ''}`
    : listed;
  const sql = `SELECT runs.seq, runs.id, kind, name, file, status, created_at, updated_at, ${suspensionColumns},
      (SELECT count(*) FROM pendings WHERE run_id = runs.id AND ruling IS NULL)
      + CASE WHEN status IN ('running', 'pending') THEN (SELECT count(*) FROM run_parents AS below
          JOIN pendings ON pendings.run_id = below.id AND ruling IS NULL WHERE below.root = runs.id)
        ELSE 0 END AS open, ${labelsColumn}, ${parentColumn}
    FROM ${from} LEFT JOIN suspensions AS s ON s.run = runs.seq
    ${where} ORDER BY ${isLed ? 'led.run' : 'runs.seq'} DESC LIMIT :limit`;
  return { sql, values };
}

const ledOf = ' JOIN run_labels AS led ON led.run = runs.seq';

function hasLabel(index: number): string {
  return `EXISTS (SELECT 1 FROM run_labels AS l WHERE l.run = runs.seq AND l.key = :key${index} AND l.value = :value${index})`;
}
