import { LRUCache } from 'lru-cache';
import { type Connection, ignoreErrors, transact } from '../../store/sqlite/connection.ts';
import { numberOrNull, textOf } from '../../store/sqlite/row.ts';
import type { Statement } from '../../store/sqlite/statement.ts';
import type { MemoKey } from './memo-key.ts';

/** What a gateway remembers of earlier calls: names by a secret key, and sealed texts. */
export interface Memo {
  /** Whether other machines have it too. */
  readonly isShared: boolean;
  readonly key: MemoKey;
  readonly marks: Marks;
  readonly answers: KeptAnswers;
  /** Never rejects; may be called again. */
  close(): Promise<void>;
}

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

/** An answer that waits for people, under the name of the request that it answers. */
export interface KeptAnswer {
  /** The run of the state store that has the calls which wait. */
  readonly runId: string;
  /** The body, sealed. */
  readonly sealed: string;
  /** When the last of its calls was decided and it was given; milliseconds since 1970, null: not yet. */
  readonly endedAt: number | null;
}

/** All methods reject with STORE_FAILED, or with what SQLite says. */
export interface KeptAnswers {
  find(name: string): Promise<KeptAnswer | undefined>;
  /** Whether there may be any. */
  mayHaveAny(): Promise<boolean>;
  /** Keeps an answer unless one is kept under this name, on the disk when it resolves; resolves to the one that is kept. */
  keep(name: string, answer: Pick<KeptAnswer, 'runId' | 'sealed'>): Promise<KeptAnswer>;
  /** Notes that it was given. The first time counts. */
  end(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The table of answers that wait for people. */
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
      // Unlike marks, which may be lost, this has to be on the disk before anybody is told.
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

/** How long an answer that was given is given again to the same request, so that a lost connection loses nothing. */
export const GIVEN_FOR_MS = 24 * 3_600_000;

/** How long an answer is kept whose client does not come back. */
export const KEPT_FOR_MS = 90 * 24 * 3_600_000;
