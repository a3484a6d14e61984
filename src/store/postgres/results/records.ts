import { randomUUID } from 'node:crypto';
import type { NewResult } from '../../result-store.ts';
import { checksumOf, encodeText } from '../../sqlite/row.ts';
import type { Link } from '../connection/client.ts';

/** These functions reject with the error of Postgres, and Damaged. */

/**
 * Stores records in statements that need little memory; several need a transaction. Returns the ID of a missing run;
 * the transaction must then be rolled back.
 */
export async function putRecords(
  link: Link,
  batches: readonly (readonly NewResult[])[],
): Promise<string | undefined> {
  for (const batch of batches) {
    const kept = batch.map(keptRecord);
    const [row] = await link.query({
      name: 'put_results',
      text: 'SELECT signalbox.put_results($1, $2, $3, $4, $5, $6, $7) AS missing',
      values: (['runId', 'number', 'epoch', 'sum', 'caseId', 'digest', 'text'] as const).map((name) =>
        kept.map((record) => record[name]),
      ),
    });
    const missing = row?.['missing'];
    if (typeof missing === 'string') return missing;
  }
  return undefined;
}

/** Each batch has at least one record. A statement cannot store a record twice, so the last one wins. */
export function batchesOf(all: readonly NewResult[]): NewResult[][] {
  const last = new Map(all.map((record) => [`${record.runId} ${record.number} ${record.epoch}`, record]));
  const batches: NewResult[][] = [];
  let length = MOST_CHARACTERS;
  for (const record of last.values()) {
    length += record.text.length;
    if (length > MOST_CHARACTERS || batches.length === 0) {
      batches.push([]);
      length = record.text.length;
    }
    batches.at(-1)?.push(record);
  }
  return batches;
}

const MOST_CHARACTERS = 8_000_000;

function keptRecord<Record extends Omit<NewResult, 'number'>>(record: Record): Record & { sum: number } {
  const { runId, caseId, digest, text } = record;
  return {
    ...record,
    ...{
      runId: encodeText(runId),
      caseId: encodeText(caseId),
      digest: encodeText(digest),
      text: encodeText(text),
    },
    sum: checksumOf(digest, text),
  };
}

/** Appends a record to its run, once even if repeated; false if there is no such run. */
export function append(record: Omit<NewResult, 'number'>): (link: Link) => Promise<boolean> {
  const { runId, epoch, sum, caseId, digest, text } = keptRecord(record);
  const values = [runId, epoch, sum, randomUUID(), caseId, digest, text];
  return async (link) => {
    const sql = 'SELECT signalbox.append_result($1, $2, $3, $4, $5, $6, $7) AS kept';
    const [row] = await link.query({ name: 'append_result', text: sql, values });
    return row?.['kept'] === true;
  };
}
