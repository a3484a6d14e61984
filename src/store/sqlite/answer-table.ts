import { textOf } from './row.ts';
import type { Statement } from './statement.ts';

export type AnswerTable = ReturnType<typeof createAnswerTable>;

/** The statements over answers that may be used again. */
export function createAnswerTable(prepare: (sql: string) => Statement) {
  const find = prepare('SELECT text FROM answers WHERE key = :key');
  const keep = prepare(`
    INSERT INTO answers (key, kept_at, text) VALUES (:key, :at, :text)
    ON CONFLICT (key) DO UPDATE SET kept_at = excluded.kept_at, text = excluded.text`);
  const remove = prepare('DELETE FROM answers WHERE kept_at < :before');
  return {
    find: (key: string): string | undefined => {
      const row = find.get({ key });
      return row && textOf(row, 'text');
    },
    store: (key: string, text: string) => void keep.run({ key, text, at: Date.now() }),
    removeBefore: (before: number) => void remove.run({ before }),
  };
}
