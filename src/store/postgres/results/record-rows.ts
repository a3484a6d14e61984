import { randomUUID } from 'node:crypto';
import type { NewResult, StoredResult } from '../../new-result.ts';
import { type RecordPosition, resultFromRow } from '../../sqlite/result-table.ts';
import { numberOf, type Row } from '../../sqlite/row.ts';
import type { Link } from '../connection/client.ts';
import { transact } from '../connection/session.ts';
import { checksumOf, fromKept, toKept, toKeptOrNull } from '../rows.ts';

/** All of these reject with what Postgres says, and Damaged. */

/** Keeps all of them, or, when a run is not there, none; the id of that run. */
export async function putAll(link: Link, records: readonly NewResult[]): Promise<string | undefined> {
  const batches = batchesOf(records);
  if (batches.length <= 1) return await putBatches(link, batches);
  try {
    await transact(link, async () => {
      const missing = await putBatches(link, batches);
      if (missing !== undefined) throw new MissingRun(missing);
    });
  } catch (error) {
    if (error instanceof MissingRun) return error.message;
    throw error;
  }
  return undefined;
}

/** The same in a transaction of the caller's, which is to be given up where a run is not there. */
export async function putWithin(link: Link, records: readonly NewResult[]): Promise<string | undefined> {
  return await putBatches(link, batchesOf(records));
}

async function putBatches(link: Link, batches: readonly NewResult[][]): Promise<string | undefined> {
  for (const batch of batches) {
    const missing = await putBatch(link, batch);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** Its message is the id of a run that is not there. */
class MissingRun extends Error {}

/** As many as one statement takes without much memory; at least one in each. It cannot keep a record twice: the last one counts. */
function batchesOf(all: readonly NewResult[]): NewResult[][] {
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

async function putBatch(link: Link, records: readonly NewResult[]): Promise<string | undefined> {
  const kept = records.map(keptRecord);
  const [row] = await link.query({
    name: 'put_results',
    text: 'SELECT signalbox.put_results($1, $2, $3, $4, $5, $6, $7) AS missing',
    values: [
      kept.map(({ runId }) => runId),
      kept.map(({ number }) => number),
      kept.map(({ epoch }) => epoch),
      kept.map(({ sum }) => sum),
      kept.map(({ caseId }) => caseId),
      kept.map(({ digest }) => digest),
      kept.map(({ text }) => text),
    ],
  });
  const missing = row?.['missing'];
  return typeof missing === 'string' ? missing : undefined;
}

function keptRecord<Record extends Omit<NewResult, 'number'>>(record: Record): Record & { sum: number } {
  const [digest, text] = [toKept(record.digest), toKept(record.text)];
  const [runId, caseId] = [toKept(record.runId), toKept(record.caseId)];
  return { ...record, runId, caseId, digest, text, sum: checksumOf(digest, text) };
}

/** Adds a record behind all others of its run, once however often it is called; false when there is no such run. */
export function append(record: Omit<NewResult, 'number'>): (link: Link) => Promise<boolean> {
  const { runId, epoch, sum, caseId, digest, text } = keptRecord(record);
  const values = [runId, epoch, sum, randomUUID(), caseId, digest, text];
  return async (link) => {
    const [row] = await link.query({
      ...{
        name: 'append_result',
        text: 'SELECT signalbox.append_result($1, $2, $3, $4, $5, $6, $7) AS kept',
        values,
      },
    });
    return row?.['kept'] === true;
  };
}

const ofRun = 'run = (SELECT seq FROM signalbox.result_runs WHERE id = $1)';
const columns = 'number, epoch, sum, case_id, digest, text';

export async function getRecord(
  link: Link,
  { runId, number, epoch }: RecordPosition,
): Promise<StoredResult | undefined> {
  const [row] = await link.query({
    name: 'get_result',
    text: `SELECT ${columns} FROM signalbox.results WHERE ${ofRun} AND number = $2 AND epoch = $3`,
    values: [toKept(runId), number, epoch],
  });
  return row && recordFromRow(row);
}

export async function countRecords(link: Link, runId: string): Promise<number> {
  const text = `SELECT count(*) AS count FROM signalbox.results WHERE ${ofRun}`;
  const [row] = await link.query({ text, values: [toKept(runId)] });
  return numberOf(row ?? {}, 'count');
}

/** The next few records after that position, in order. */
export async function pageOf(
  link: Link,
  { runId, number, epoch }: RecordPosition,
  caseId: string | undefined,
): Promise<StoredResult[]> {
  const rows = await link.query({
    name: 'page_results',
    // Few, because a result may be large: what this saves is a way there and back for each row.
    text: `SELECT ${columns} FROM signalbox.results WHERE ${ofRun} AND (number, epoch) > ($2, $3)
      AND ($4::text IS NULL OR case_id = $4) ORDER BY number, epoch LIMIT 64`,
    values: [toKept(runId), number, epoch, toKeptOrNull(caseId ?? null)],
  });
  return rows.map(recordFromRow);
}

function recordFromRow(row: Row): StoredResult {
  const { digest, text } = row;
  const actual = typeof digest === 'string' && typeof text === 'string' ? checksumOf(digest, text) : null;
  return resultFromRow(fromKept({ ...row, actual }));
}
