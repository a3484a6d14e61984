import type { PendingDecision, PendingRecord } from '../../contract/approval.ts';
import { decisionToRow, recordFromRow } from '../sqlite/pending-table.ts';
import { DamagedError, textOf } from '../sqlite/row.ts';
import type { Store } from '../store.ts';
import type { Link } from './connection/client.ts';
import { fromKept, readAnswer, toKept, toKeptOrNull } from './rows.ts';

/** A decision, and what tells it from any other. */
export interface Decision {
  readonly id: string;
  readonly ruling: PendingDecision;
  readonly at: number;
  readonly token: string;
}

/** Decides calls that are due at `at` as `expired`, and then that call if it is open. Rejects with what Postgres says, and Damaged, as all of these. */
export async function decide(link: Link, { id, ruling, at, token }: Decision): ReturnType<Store['decide']> {
  const row = decisionToRow(ruling);
  const words = [row.ruling, row.ruled_by, row.ruling_reason, row.edited_args, row.result].map(toKeptOrNull);
  const [answer] = await link.query({
    name: 'decide',
    text: 'SELECT signalbox.decide($1, $2, $3, $4, $5, $6, $7, $8) AS answer',
    values: [toKept(id), at, token, ...words],
  });
  if (answer?.['answer'] === null) return undefined;
  const { accepted, record } = readAnswer(answer?.['answer']);
  if (typeof record !== 'object' || record === null) throw new DamagedError('a decision has no record');
  return { isAccepted: accepted === true, record: recordFromRow(fromKept({ ...record })) };
}

/** Decides calls that are due at `at` as `expired`. */
export async function expireDue(link: Link, at: number): Promise<void> {
  await link.query({ name: 'expire', text: 'SELECT signalbox.expire_due($1)', values: [at] });
}

export async function findPending(link: Link, id: string): Promise<PendingRecord | undefined> {
  const [row] = await link.query({
    ...{ name: 'pending', text: `${whole} WHERE id = $1`, values: [toKept(id)] },
  });
  return row && recordFromRow(fromKept(row));
}

/** With who has approved it, as JSON. */
const whole =
  'SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin FROM signalbox.pendings AS p';

/** In the order in which they were added. */
export async function listPendings(
  link: Link,
  { runId, below = false, open }: Parameters<Store['listPendings']>[0],
): Promise<PendingRecord[]> {
  const rows = await link.query({
    text: `${whole} WHERE ($1::text IS NULL OR run_id = $1
        OR ($3 AND run_id IN (SELECT id FROM signalbox.run_parents WHERE root = $1)))
      AND ($2::boolean IS NULL OR (ruling IS NULL) = $2) ORDER BY seq`,
    values: [toKeptOrNull(runId ?? null), open ?? null, below],
  });
  return rows.map((row) => recordFromRow(fromKept(row)));
}

/** Ids of runs that have not ended, in which a call has expired and none is open. */
export async function runsExpired(link: Link): Promise<string[]> {
  const rows = await link.query({
    text: `SELECT id FROM signalbox.runs AS runs WHERE status IN ('running', 'pending')
        AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id)
        AND EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = runs.id AND ruling = 'expired')
        AND NOT EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = runs.id AND ruling IS NULL)
      ORDER BY seq`,
  });
  return rows.map((row) => textOf(row, 'id'));
}
