import type { RunParent } from '../../../contract/approval.ts';
import type { NewRun } from '../../store.ts';
import { DamagedError, type Row, textOrNull } from '../row.ts';
import { decodeText, encodeText, type Preparing } from '../statement.ts';

export type ParentTable = ReturnType<typeof createParentTable>;

/** The statements over runs that are parts of others, and over what runs may begin. What changes something needs a write transaction. */
export function createParentTable({ prepare }: Preparing) {
  const insert = prepare(`INSERT INTO run_parents (id, root, parent, step)
    SELECT :id, json_extract(:kin, '$.root'), json_extract(:kin, '$.id'), json_extract(:kin, '$.step')
    WHERE json_extract(:kin, '$.id') IS NOT NULL`);
  const keep = prepare(`INSERT INTO run_pipelines (run_id, file, text)
    SELECT :id, key, value FROM json_each(:kin, '$.pipelines')`);
  const endBelow = prepare(`UPDATE runs SET status = :status, updated_at = :at, error = :error
    WHERE id IN (SELECT id FROM run_parents WHERE root = :root) AND status IN ('running', 'pending')`);
  return {
    /** Those of a new run, as `kinToText` has them. */
    insert: (id: string, kin: string) => {
      insert.run({ id, kin });
      keep.run({ id, kin });
    },
    /** Ends the runs below one. */
    endBelow: (
      root: string,
      change: { readonly status: string; readonly at: number; readonly error: string },
    ) => void endBelow.run({ root, ...change }),
  };
}

/** Where a run belongs, and what it may begin, as one text; null: neither is to be kept. */
export function kinToText({ parent, pipelines = {} }: Pick<NewRun, 'parent' | 'pipelines'>): string | null {
  const texts = Object.entries(pipelines).map(([file, text]) => [encodeText(file), encodeText(text)]);
  if (parent === undefined && texts.length === 0) return null;
  return JSON.stringify({ ...parent, pipelines: Object.fromEntries(texts) });
}

/** Where the run of a row belongs, as `parentFromRow` reads it. */
export const parentColumn = `(SELECT json_object('id', parent, 'root', root, 'step', step)
  FROM run_parents WHERE id = runs.id) AS kin`;

/** The same of the run of a call. */
export const parentOfCall = `(SELECT json_object('id', parent, 'root', root, 'step', step)
  FROM run_parents WHERE id = pendings.run_id) AS kin`;

/** The pipelines that the run of a row may begin, as `pipelinesFromRow` reads them. */
export const pipelinesColumn = `(SELECT json_group_object(file, text)
  FROM run_pipelines WHERE run_id = runs.id) AS pipelines`;

/** Throws Damaged. */
export function parentFromRow(row: Row): { readonly parent?: RunParent } {
  const kept = memberOf(row, 'kin');
  if (kept === undefined) return {};
  const { id, root, step } = kept;
  if (typeof id !== 'string' || typeof root !== 'string' || typeof step !== 'string')
    throw new DamagedError('the parent of a run is none');
  return { parent: { id, root, step } };
}

/** Throws Damaged. */
export function pipelinesFromRow(row: Row): Pick<NewRun, 'pipelines'> {
  const entries = Object.entries(memberOf(row, 'pipelines') ?? {});
  if (entries.length === 0) return {};
  const texts = entries.map(([file, text]) => [decodeText(file), decodeText(String(text))]);
  return { pipelines: Object.fromEntries(texts) };
}

function memberOf(row: Row, column: string): Readonly<Record<string, unknown>> | undefined {
  const text = row[column] === undefined ? null : textOrNull(row, column);
  if (text === null) return undefined;
  const kept: unknown = JSON.parse(text);
  if (typeof kept !== 'object' || kept === null) throw new DamagedError(`${column} is no object`);
  return { ...kept };
}
