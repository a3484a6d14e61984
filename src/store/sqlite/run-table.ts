import type { RunStatus } from '../../contract/run.ts';
import { stringifyJson } from '../../json/json.ts';
import type { NewRun, RunChange, RunRecord, Store } from '../store.ts';
import { endedStatuses } from '../store-rules.ts';
import { enumOf, faultOrNull, jsonOf, jsonOrNull, numberOf, type Row, textOf, textOrNull } from './row.ts';
import type { Preparing, Values } from './statement.ts';

export type RunTable = ReturnType<typeof createRunTable>;

/** The statements over runs. What changes something needs a write transaction. */
export function createRunTable({ prepare }: Preparing) {
  const insert = prepare(`
    INSERT INTO runs (id, kind, name, file, source, config, input, created_at, status, updated_at)
    VALUES (:id, :kind, :name, :file, :source, :config, :input, :created_at, 'running', :created_at)
    ON CONFLICT (id) DO NOTHING`);
  const find = prepare('SELECT * FROM runs WHERE id = :id');
  const status = prepare('SELECT status FROM runs WHERE id = :id');
  const list = prepare('SELECT * FROM runs ORDER BY seq DESC LIMIT :limit');
  const listOf = prepare('SELECT * FROM runs WHERE status = :status ORDER BY seq DESC LIMIT :limit');
  const change = prepare(`
    UPDATE runs SET status = :status, updated_at = :at,
      output = CASE WHEN :keep_output THEN output ELSE :output END,
      error = CASE WHEN :keep_error THEN error ELSE :error END
    WHERE id = :id AND NOT (status IN (${ended}))`);
  const old = prepare(`SELECT id FROM runs WHERE status IN (${ended}) AND updated_at < :before`);
  const remove = prepare('DELETE FROM runs WHERE id = :id');
  return {
    /** Whether there was no run of this id before. */
    insert: (run: Values) => insert.run(run) === 1,
    find: (id: string): RunRecord | undefined => {
      const row = find.get({ id });
      return row && runFromRow(row);
    },
    statusOf: (id: string): RunStatus | undefined => {
      const row = status.get({ id });
      return row && enumOf(row, 'status', statuses);
    },
    list: (filter: Parameters<Store['listRuns']>[0] & object): RunRecord[] => {
      const limit = filter.limit ?? -1;
      const rows =
        filter.status === undefined ? list.all({ limit }) : listOf.all({ status: filter.status, limit });
      return rows.map(runFromRow);
    },
    /** Whether there is such a run and it had not ended. */
    change: (id: string, wanted: Values) => change.run({ id, ...wanted }) === 1,
    /** The ids of ended runs that were last changed before `before`. */
    endedBefore: (before: number) => old.all({ before }).map((row) => textOf(row, 'id')),
    /** With its steps and pending calls. */
    remove: (id: string) => void remove.run({ id }),
  };
}

const ended = endedStatuses.map((status) => `'${status}'`).join();
const statuses: readonly RunStatus[] = ['running', 'pending', ...endedStatuses];
const runKinds: readonly NewRun['kind'][] = ['pipeline', 'tool'];

/** The columns of a new run. */
export function runToRow({ id, kind, name, file, source, config, input, createdAt }: NewRun) {
  return { id, kind, name, file, source, config, input: input.text, created_at: createdAt };
}

/** The columns that a change of its status sets. */
export function changeToRow({ status, output, error, at }: RunChange) {
  return {
    status,
    at,
    keep_output: output === undefined ? 1 : 0,
    output: output?.text ?? null,
    keep_error: error === undefined ? 1 : 0,
    error: error ? stringifyJson(error) : null,
  };
}

function runFromRow(row: Row): RunRecord {
  return {
    id: textOf(row, 'id'),
    kind: enumOf(row, 'kind', runKinds),
    name: textOf(row, 'name'),
    file: textOrNull(row, 'file'),
    source: textOf(row, 'source'),
    config: textOf(row, 'config'),
    input: jsonOf(row, 'input'),
    createdAt: numberOf(row, 'created_at'),
    status: enumOf(row, 'status', statuses),
    output: jsonOrNull(row, 'output'),
    error: faultOrNull(row, 'error'),
    updatedAt: numberOf(row, 'updated_at'),
  };
}
