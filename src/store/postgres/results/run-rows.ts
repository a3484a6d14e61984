import { randomUUID } from 'node:crypto';
import type { NewResultRun, ResultRun, ResultRunFilter, ResultStore } from '../../result-store.ts';
import { runFromRow } from '../../sqlite/result-run-table.ts';
import type { Link } from '../connection/client.ts';
import { fromKept, toKept, toKeptOrNull } from '../rows.ts';

/** All of these reject with what Postgres says, and Damaged. */

/** Makes a run, or finds that the same call has made it already; false when there is another one of its id. */
export function insertRun(run: NewResultRun): (link: Link) => Promise<boolean> {
  const { id, kind, name, file, fingerprint, createdAt, header } = run;
  const [named, at, of, as] = [toKept(name), toKept(file), toKept(fingerprint), toKept(header)];
  const values = [id, kind, named, at, of, createdAt, as, randomUUID()];
  const text = 'SELECT signalbox.create_result_run($1, $2, $3, $4, $5, $6, $7, $8) AS made';
  return async (link) => {
    const [row] = await link.query({ text, values });
    return row?.['made'] === true;
  };
}

export async function findRun(link: Link, id: string): Promise<ResultRun | undefined> {
  const text = 'SELECT * FROM signalbox.result_runs WHERE id = $1';
  const [row] = await link.query({ text, values: [toKept(id)] });
  return row && runFromRow(fromKept(row));
}

/** Newest first. */
export async function listRuns(
  link: Link,
  { name, kind, limit, after }: ResultRunFilter = {},
): Promise<ResultRun[]> {
  const rows = await link.query({
    text: `SELECT * FROM signalbox.result_runs WHERE ($1::text IS NULL OR name = $1) AND ($2::text IS NULL OR kind = $2)
        AND ($4::text IS NULL OR (created_at, seq) < (SELECT created_at, seq FROM signalbox.result_runs WHERE id = $4))
      ORDER BY created_at DESC, seq DESC LIMIT $3`,
    values: [toKeptOrNull(name ?? null), kind ?? null, limit ?? null, toKeptOrNull(after ?? null)],
  });
  return rows.map((row) => runFromRow(fromKept(row)));
}

/** False when there is no such run. */
export async function setEnd(
  link: Link,
  id: string,
  { status, report }: Parameters<ResultStore['setRunEnd']>[1],
): Promise<boolean> {
  const rows = await link.query({
    text: 'UPDATE signalbox.result_runs SET status = $2, report = $3 WHERE id = $1 RETURNING seq',
    values: [toKept(id), status, toKeptOrNull(report)],
  });
  return rows.length > 0;
}

/** The ids of those that began before, of which one place at a time is looked at. */
export async function listBegunBefore(link: Link, before: number): Promise<string[]> {
  const rows = await link.query({
    text: 'SELECT id FROM signalbox.result_runs WHERE created_at < $1 ORDER BY created_at, seq',
    values: [before],
  });
  return rows.map((row) => String(row['id']));
}
