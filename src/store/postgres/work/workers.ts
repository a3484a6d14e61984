import type { SeenWorker, WorkerRecord } from '../../shared-work.ts';
import { decodeRow, encodeText, numberOf, textOf } from '../../sqlite/row.ts';
import type { Link } from '../connection/client.ts';

/** That the worker is there. Rejects with what Postgres says, as all of these. */
export async function beat(link: Link, worker: WorkerRecord): Promise<void> {
  const { id, machine, pid, version, concurrency, busy, builds, isDraining } = worker;
  await link.query({
    name: 'worker',
    text: `INSERT INTO signalbox.workers (id, machine, pid, version, concurrency, busy, builds, draining, seen_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET busy = excluded.busy, draining = excluded.draining, seen_at = excluded.seen_at`,
    values: [id, encodeText(machine), pid, version, concurrency, busy, builds, isDraining],
  });
}

/** Also forgets those that have not been heard of for an hour. */
export async function leave(link: Link, id: string): Promise<void> {
  const text =
    "DELETE FROM signalbox.workers WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 hour'";
  await link.query({ text, values: [id] });
}

/** The oldest first. */
export async function listWorkers(link: Link, hungMs: number): Promise<SeenWorker[]> {
  const rows = await link.query({
    text: `SELECT id, machine, pid, version, concurrency, busy, draining, array_to_string(builds, ' ') AS builds,
        (extract(epoch FROM started_at) * 1000)::bigint AS started_at,
        (extract(epoch FROM seen_at) * 1000)::bigint AS seen_at,
        seen_at > clock_timestamp() - $1::bigint * interval '1 millisecond' AS is_live
      FROM signalbox.workers WHERE seen_at > clock_timestamp() - interval '1 hour' ORDER BY started_at, id`,
    values: [hungMs],
  });
  return rows.map(decodeRow).map((row) => ({
    id: textOf(row, 'id'),
    machine: textOf(row, 'machine'),
    pid: numberOf(row, 'pid'),
    version: textOf(row, 'version'),
    concurrency: numberOf(row, 'concurrency'),
    busy: numberOf(row, 'busy'),
    builds: textOf(row, 'builds').split(' '),
    isDraining: row['draining'] === true,
    startedAt: numberOf(row, 'started_at'),
    seenAt: numberOf(row, 'seen_at'),
    isLive: row['is_live'] === true,
  }));
}
