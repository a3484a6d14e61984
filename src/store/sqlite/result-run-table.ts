import type { NewResultRun, ResultKind, ResultRun, ResultStore, RunEnd } from '../result-store.ts';
import { enumOf, numberOf, type Row, textOf, textOrNull } from './row.ts';
import type { Statement } from './statement.ts';

/** The statements over runs of suites. */
export interface ResultRunTable {
  /** False when there is a run of this id. */
  insert(run: NewResultRun): boolean;
  find(id: string): ResultRun | undefined;
  list(filter: Parameters<ResultStore['listRuns']>[0]): ResultRun[];
  /** False when there is no such run. */
  setEnd(id: string, end: { readonly status: RunEnd; readonly report: string | null }): boolean;
  /** The ids of those that began before. */
  begunBefore(before: number): string[];
  /** With all their results. */
  remove(id: string): void;
}

export function createResultRunTable(prepare: (sql: string) => Statement): ResultRunTable {
  const insert = prepare(`
    INSERT INTO runs (id, kind, name, file, fingerprint, created_at, status, header)
    VALUES (:id, :kind, :name, :file, :fingerprint, :created_at, 'running', :header)
    ON CONFLICT (id) DO NOTHING`);
  const find = prepare('SELECT * FROM runs WHERE id = :id');
  const list = prepare(`
    SELECT * FROM runs WHERE name = coalesce(:name, name) AND kind = coalesce(:kind, kind)
    ORDER BY created_at DESC, seq DESC LIMIT :limit`);
  const setEnd = prepare('UPDATE runs SET status = :status, report = :report WHERE id = :id');
  const old = prepare('SELECT id FROM runs WHERE created_at < :before');
  const remove = prepare('DELETE FROM runs WHERE id = :id');
  return {
    insert: ({ createdAt, ...run }) => insert.run({ ...run, created_at: createdAt }) === 1,
    find: (id) => {
      const row = find.get({ id });
      return row && runFromRow(row);
    },
    list: ({ name, kind, limit } = {}) =>
      list.all({ name: name ?? null, kind: kind ?? null, limit: limit ?? -1 }).map(runFromRow),
    setEnd: (id, { status, report }) => setEnd.run({ id, status, report }) === 1,
    begunBefore: (before) => old.all({ before }).map((row) => textOf(row, 'id')),
    remove: (id) => void remove.run({ id }),
  };
}

const kinds: readonly ResultKind[] = ['suite', 'shadow'];
const ends: readonly RunEnd[] = ['running', 'passed', 'failed', 'error', 'interrupted'];

function runFromRow(row: Row): ResultRun {
  return {
    id: textOf(row, 'id'),
    kind: enumOf(row, 'kind', kinds),
    name: textOf(row, 'name'),
    file: textOf(row, 'file'),
    fingerprint: textOf(row, 'fingerprint'),
    createdAt: numberOf(row, 'created_at'),
    header: textOf(row, 'header'),
    status: enumOf(row, 'status', ends),
    report: textOrNull(row, 'report'),
  };
}
