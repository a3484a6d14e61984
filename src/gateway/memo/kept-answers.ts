import { type Connection, transact } from '../../store/sqlite/connection.ts';
import { numberOrNull, textOf } from '../../store/sqlite/row.ts';
import type { Statement } from '../../store/sqlite/statement.ts';

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
