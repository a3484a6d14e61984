import { LRUCache } from 'lru-cache';
import { type Connection, ignoreErrors, transact } from '../../store/sqlite/connection.ts';
import { numberOrNull, textOf } from '../../store/sqlite/row.ts';
import type { Statement } from '../../store/sqlite/statement.ts';
import { KEPT_FOR_MS } from '../../store/store-rules.ts';
import type { MemoKey } from './memo-key.ts';

export interface Memo {
  readonly isShared: boolean;
  readonly key: MemoKey;
  readonly marks: Marks;
  readonly answers: KeptAnswers;
  /** Never rejects. Safe to call again. */
  close(): Promise<void>;
}

/** Values by name. The least recently used are removed. */
export interface Marks {
  /** Fetches values from the shared database; absent if all are local. Never rejects. */
  load?: ((names: readonly string[]) => Promise<void>) | undefined;
  /** Returns undefined if the value is missing or unreadable. Never throws. */
  find(name: string): string | undefined;
  /** Writes in one transaction, possibly later. Never throws: a lost mark only causes another judgement. */
  keep(marks: readonly (readonly [name: string, value: string])[]): void;
}

export interface MarkLimits {
  readonly maxRows: number;
  readonly idleMs: number;
}

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
        // Limits writes of the last use to one per hour.
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

export const RECENT = 20_000;
export const TOUCH_AFTER_MS = 3_600_000;
/** The number of new marks between sweeps of old ones. */
export const SWEEP_AFTER = 1_000;

export interface KeptAnswer {
  readonly runId: string;
  readonly sealed: string;
  /** When the response was sent after the last decision, in milliseconds since 1970; null until then. */
  readonly endedAt: number | null;
}

/** All methods reject with STORE_FAILED or SQLite's errors. */
export interface KeptAnswers {
  find(name: string): Promise<KeptAnswer | undefined>;
  mayHaveAny(): Promise<boolean>;
  /** Saves a response unless the name has one. Resolves to the saved response when it is on disk. */
  keep(name: string, answer: Pick<KeptAnswer, 'runId' | 'sealed'>): Promise<KeptAnswer>;
  end(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export function createKeptAnswers(
  { database }: Pick<Connection, 'database'>,
  prepare: (sql: string) => Statement,
): KeptAnswers {
  const select = prepare('SELECT run_id, sealed, ended_at FROM kept_answers WHERE name = :name');
  const any = prepare('SELECT 1 FROM kept_answers LIMIT 1');
  const insert = prepare(`
    INSERT INTO kept_answers (name, run_id, sealed, kept_at) VALUES (:name, :run_id, :sealed, :at)
    ON CONFLICT (name) DO NOTHING`);
  const end = prepare('UPDATE kept_answers SET ended_at = :at WHERE name = :name AND ended_at IS NULL');
  const remove = prepare('DELETE FROM kept_answers WHERE name = :name');
  const removeOld = prepare('DELETE FROM kept_answers WHERE ended_at < :ended OR kept_at < :kept');
  const find = (name: string): KeptAnswer | undefined => {
    const row = select.get({ name });
    return (
      row && {
        runId: textOf(row, 'run_id'),
        sealed: textOf(row, 'sealed'),
        endedAt: numberOrNull(row, 'ended_at'),
      }
    );
  };
  return {
    find: async (name) => find(name),
    mayHaveAny: async () => any.get() !== undefined,
    keep: async (name, { runId, sealed }) => {
      const at = Date.now();
      // Unlike marks, responses must be on disk before anyone relies on them.
      database.exec('PRAGMA synchronous = FULL');
      try {
        return transact(database, () => {
          removeOld.run({ ended: at - GIVEN_FOR_MS, kept: at - KEPT_FOR_MS });
          insert.run({ name, run_id: runId, sealed, at });
          const kept = find(name);
          if (kept === undefined) throw new Error('a row that was inserted is not there');
          return kept;
        });
      } finally {
        database.exec('PRAGMA synchronous = NORMAL');
      }
    },
    end: async (name) => void end.run({ name, at: Date.now() }),
    remove: async (name) => void remove.run({ name }),
  };
}

/** How long a sent response is repeated for the same request, in case the connection was lost. */
export const GIVEN_FOR_MS = 24 * 3_600_000;
