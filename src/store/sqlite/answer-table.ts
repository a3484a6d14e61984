import { textOf } from './row.ts';
import type { Statement } from './statement.ts';

/** The statements over answers that may be used again. */
export interface AnswerTable {
  find(key: string): string | undefined;
  store(key: string, text: string): void;
  removeBefore(before: number): void;
}

export function createAnswerTable(prepare: (sql: string) => Statement): AnswerTable {
  const find = prepare('SELECT text FROM answers WHERE key = :key');
  const keep = prepare(`
    INSERT INTO answers (key, kept_at, text) VALUES (:key, :at, :text)
    ON CONFLICT (key) DO UPDATE SET kept_at = excluded.kept_at, text = excluded.text`);
  const remove = prepare('DELETE FROM answers WHERE kept_at < :before');
  return {
    find: (key) => {
      const row = find.get({ key });
      return row && textOf(row, 'text');
    },
    store: (key, text) => void keep.run({ key, text, at: Date.now() }),
    removeBefore: (before) => void remove.run({ before }),
  };
}
