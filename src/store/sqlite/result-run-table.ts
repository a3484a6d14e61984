import type {
  NewResultRun,
  ResultKind,
  ResultRun,
  ResultRunFilter,
  ResultStore,
  RunEnd,
} from '../result-store.ts';
import { enumOf, numberOf, type Row, textOf, textOrNull } from './row.ts';
import type { Statement } from './statement.ts';

export type ResultRunTable = ReturnType<typeof createResultRunTable>;

/** The statements over runs of suites. */
export function createResultRunTable(prepare: (sql: string) => Statement) {
  const insert = prepare(`
    INSERT INTO runs (id, kind, name, file, fingerprint, created_at, status, header)
    VALUES (:id, :kind, :name, :file, :fingerprint, :created_at, 'running', :header)
    ON CONFLICT (id) DO NOTHING`);
  const find = prepare('SELECT * FROM runs WHERE id = :id');
  // The rows themselves, which may be long, are read of those alone that are listed.
  const list = prepare(`
    SELECT * FROM runs WHERE seq IN (
      SELECT seq FROM runs WHERE name = coalesce(:name, name) AND kind = coalesce(:kind, kind)
        AND (:after IS NULL OR (created_at, seq) < (SELECT created_at, seq FROM runs WHERE id = :after))
      ORDER BY created_at DESC, seq DESC LIMIT :limit)
    ORDER BY created_at DESC, seq DESC`);
  const setEnd = prepare('UPDATE runs SET status = :status, report = :report WHERE id = :id');
  const old = prepare('SELECT id FROM runs WHERE created_at < :before');
  const remove = prepare('DELETE FROM runs WHERE id = :id');
  return {
    /** False when there is a run of this id. */
    insert: ({ createdAt, ...run }: NewResultRun) => insert.run({ ...run, created_at: createdAt }) === 1,
    find: (id: string): ResultRun | undefined => {
      const row = find.get({ id });
      return row && runFromRow(row);
    },
    list: ({ name, kind, limit = -1, after }: ResultRunFilter = {}): ResultRun[] =>
      list.all({ name: name ?? null, kind: kind ?? null, limit, after: after ?? null }).map(runFromRow),
    /** False when there is no such run. */
    setEnd: (id: string, { status, report }: Parameters<ResultStore['setRunEnd']>[1]) =>
      setEnd.run({ id, status, report }) === 1,
    /** The ids of those that began before. */
    begunBefore: (before: number) => old.all({ before }).map((row) => textOf(row, 'id')),
    /** With all their results. */
    remove: (id: string) => void remove.run({ id }),
  };
}

const kinds: readonly ResultKind[] = ['suite', 'shadow'];
const ends: readonly RunEnd[] = ['running', 'passed', 'failed', 'error', 'interrupted'];

/** Throws Damaged. */
export function runFromRow(row: Row): ResultRun {
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
