import type { Database } from '../sqlite/database.ts';
import { numberOrNull, textOf } from '../sqlite/row.ts';
import { noticeFromRow } from './notice-row.ts';
import type { Outbox } from './outbox.ts';

export function sqliteOutbox(database: Database): Outbox {
  const rules = database.prepare(
    'SELECT target, event FROM notify_rules WHERE config = :config ORDER BY event, target',
  );
  const clear = database.prepare('DELETE FROM notify_rules WHERE config = :config');
  const insert = database.prepare(
    'INSERT OR IGNORE INTO notify_rules (event, config, target) VALUES (:event, :config, :target)',
  );
  const wanted = 'target IN (SELECT value FROM json_each(:targets))';
  const due = database.prepare(
    `SELECT * FROM notices WHERE ${wanted} AND due_at <= :at ORDER BY due_at, seq LIMIT :limit`,
  );
  const lease = database.prepare(
    'UPDATE notices SET attempts = attempts + 1, due_at = :due_at WHERE seq = :seq',
  );
  const remove = database.prepare('DELETE FROM notices WHERE seq = :seq');
  const postpone = database.prepare('UPDATE notices SET due_at = :due_at WHERE seq = :seq');
  const next = database.prepare(`SELECT min(due_at) AS due_at FROM notices WHERE ${wanted}`);
  return {
    setRules: async (config, given) => {
      const keyOf = (rule: { event: string; target: string }) => `${rule.event} ${rule.target}`;
      const kept = await database.read(() =>
        rules.all({ config }).map((row) => `${textOf(row, 'event')} ${textOf(row, 'target')}`),
      );
      if (kept.toSorted().join('\n') === given.map(keyOf).toSorted().join('\n')) return;
      await database.write(() => {
        clear.run({ config });
        for (const { event, target } of given) insert.run({ event, config, target });
      });
    },
    take: async (targets, at, { leaseMs, limit }) => {
      const values = { targets: JSON.stringify(targets), at, limit };
      // Nobody writes to find that there is nothing.
      if ((await database.read(() => due.all({ ...values, limit: 1 }))).length === 0) return [];
      return await database.write(() =>
        due.all(values).map((row) => {
          const notice = noticeFromRow(row);
          lease.run({ seq: notice.seq, due_at: at + leaseMs });
          return { ...notice, attempts: notice.attempts + 1 };
        }),
      );
    },
    remove: (seq) => database.write(() => void remove.run({ seq })),
    postpone: (seq, at, ms) => database.write(() => void postpone.run({ seq, due_at: at + ms })),
    nextDue: async (targets, at) => {
      const row = await database.read(() => next.get({ targets: JSON.stringify(targets) }));
      const dueAt = row && numberOrNull(row, 'due_at');
      return dueAt === null || dueAt === undefined ? undefined : Math.max(0, dueAt - at);
    },
  };
}
