import type { Link } from '../postgres/connection/client.ts';
import { fromKept, toKept } from '../postgres/rows.ts';
import { numberOrNull } from '../sqlite/row.ts';
import { noticeFromRow } from './notice-row.ts';
import type { Outbox } from './outbox.ts';

/** `run` does work on the connection, after everything that was asked for before; it rejects with STORE_FAILED. */
export function postgresOutbox(
  run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>,
): Outbox {
  const query = (text: string, values: readonly unknown[]) => run((link) => link.query({ text, values }));
  return {
    setRules: async (given, rules) => {
      const config = toKept(given);
      await query(
        `WITH wanted AS (SELECT * FROM unnest($2::text[], $3::text[]) AS each (event, target)), gone AS (
            DELETE FROM signalbox.notify_rules AS r WHERE config = $1
              AND NOT EXISTS (SELECT 1 FROM wanted AS w WHERE w.event = r.event AND w.target = r.target))
          INSERT INTO signalbox.notify_rules (event, config, target) SELECT event, $1, target FROM wanted
            ON CONFLICT DO NOTHING`,
        [config, rules.map(({ event }) => event), rules.map(({ target }) => target)],
      );
    },
    take: async (targets, at, { leaseMs, limit }) => {
      const rows = await query(
        `UPDATE signalbox.notices SET attempts = attempts + 1, due_at = signalbox.now_ms($2) + $3
          WHERE seq IN (SELECT seq FROM signalbox.notices WHERE target = ANY ($1) AND due_at <= signalbox.now_ms($2)
            ORDER BY due_at, seq LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING *`,
        [targets, at, leaseMs, limit],
      );
      return rows.map((row) => noticeFromRow(fromKept(row))).toSorted((one, other) => one.seq - other.seq);
    },
    remove: async (seq) => void (await query('DELETE FROM signalbox.notices WHERE seq = $1', [seq])),
    postpone: async (seq, at, ms) =>
      void (await query('UPDATE signalbox.notices SET due_at = signalbox.now_ms($2) + $3 WHERE seq = $1', [
        seq,
        at,
        ms,
      ])),
    nextDue: async (targets, at) => {
      const [row] = await query(
        'SELECT min(due_at) - signalbox.now_ms($2) AS left FROM signalbox.notices WHERE target = ANY ($1)',
        [targets, at],
      );
      const left = row && numberOrNull(row, 'left');
      return left === null || left === undefined ? undefined : Math.max(0, left);
    },
  };
}
