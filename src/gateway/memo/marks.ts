import { LRUCache } from 'lru-cache';
import { type Connection, ignoreErrors, transact } from '../../store/sqlite/connection.ts';
import { textOf } from '../../store/sqlite/row.ts';
import type { Statement } from '../../store/sqlite/statement.ts';

/** Values under names, of which the least recently used are forgotten. */
export interface Marks {
  /** Brings those that are kept elsewhere to hand; absent: all are at hand. Never rejects. */
  load?: ((names: readonly string[]) => Promise<void>) | undefined;
  /** Undefined: there is none at hand, or it cannot be read. Never throws. */
  find(name: string): string | undefined;
  /** In one transaction, which may end later. Never throws: what cannot be kept is judged again. */
  keep(marks: readonly (readonly [name: string, value: string])[]): void;
}

export interface MarkLimits {
  readonly maxRows: number;
  /** How long a mark stays after it was last used; milliseconds. */
  readonly idleMs: number;
}

/** The table of marks, behind a cache of those that were used last. */
export function createMarks(
  { database }: Pick<Connection, 'database'>,
  prepare: (sql: string) => Statement,
  limits: MarkLimits,
  now: () => number = Date.now,
): Marks {
  const find = prepare('SELECT value FROM marks WHERE name = :name AND used_at >= :after');
  const keep = prepare(`
    INSERT INTO marks (name, value, used_at) VALUES (:name, :value, :at)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, used_at = excluded.used_at`);
  const touch = prepare('UPDATE marks SET used_at = :at WHERE name = :name');
  const removeOld = prepare('DELETE FROM marks WHERE used_at < :before');
  const removeMost = prepare(`
    DELETE FROM marks WHERE name IN (SELECT name FROM marks ORDER BY used_at
      LIMIT max(0, (SELECT count(*) FROM marks) - :most))`);
  const recent = new LRUCache<string, { readonly value: string; touchedAt: number }>({ max: RECENT });
  let untilSweep = 0;
  const sweep = () => {
    untilSweep = SWEEP_AFTER;
    removeOld.run({ before: now() - limits.idleMs });
    removeMost.run({ most: limits.maxRows });
  };
  const findKept = (name: string) => {
    const row = find.get({ name, after: now() - limits.idleMs });
    return row && { value: textOf(row, 'value'), touchedAt: 0 };
  };
  return {
    find: (name) => {
      try {
        const known = recent.get(name) ?? findKept(name);
        if (known === undefined) return undefined;
        // A use is written at most once an hour.
        if (now() - known.touchedAt > TOUCH_AFTER_MS) {
          known.touchedAt = now();
          recent.set(name, known);
          ignoreErrors(() => touch.run({ name, at: now() }));
        }
        return known.value;
      } catch {
        return undefined;
      }
    },
    keep: (marks) => {
      if (marks.length === 0) return;
      ignoreErrors(() => {
        transact(database, () => {
          for (const [name, value] of marks) keep.run({ name, value, at: now() });
          untilSweep -= marks.length;
          if (untilSweep <= 0) sweep();
        });
        for (const [name, value] of marks) recent.set(name, { value, touchedAt: now() });
      });
    },
  };
}

/** How many marks are at hand. */
export const RECENT = 20_000;
export const TOUCH_AFTER_MS = 3_600_000;
/** After so many new ones it is looked for old ones. */
export const SWEEP_AFTER = 1_000;
