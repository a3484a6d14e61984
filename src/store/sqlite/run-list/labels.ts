import type { RunLabels } from '../../../contract/run.ts';
import { DamagedError, type Row, textOrNull } from '../row.ts';
import { decodeText, encodeText, type Preparing } from '../statement.ts';

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
export const labelsColumn = `(SELECT json_group_object(key, value)
  FROM (SELECT key, value FROM run_labels WHERE run = runs.seq ORDER BY key)) AS labels`;

/** Labels as one text, each value as a column keeps it; null: there are none. */
export function labelsToText(labels: RunLabels | undefined): string | null {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.map(([key, value]) => [key, encodeText(value)])));
}

/** The member of a run for the labels that its row has. Throws Damaged. */
export function labelsFromRow(row: Row): { readonly labels?: RunLabels } {
  const text = row['labels'] === undefined ? null : textOrNull(row, 'labels');
  if (text === null || text === '{}') return {};
  const kept: unknown = JSON.parse(text);
  if (typeof kept !== 'object' || kept === null) throw new DamagedError('labels are no object');
  return {
    labels: Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, decodeText(String(value))])),
  };
}
