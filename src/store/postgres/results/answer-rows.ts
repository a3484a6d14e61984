import { createHash } from 'node:crypto';
import { textOf } from '../../sqlite/row.ts';
import { decodeText } from '../../sqlite/statement.ts';
import type { Link } from '../connection/client.ts';
import { toKept } from '../rows.ts';

/** Both reject with what Postgres says, and Damaged. */

export async function findAnswer(link: Link, key: string): Promise<string | undefined> {
  const text = 'SELECT text FROM signalbox.answers WHERE key = $1';
  const [row] = await link.query({ name: 'find_answer', text, values: [digestOf(key)] });
  return row && decodeText(textOf(row, 'text'));
}

/** In the place of one that is there; `at` in ms since 1970. */
export async function keepAnswer(
  link: Link,
  { key, text, at }: { readonly key: string; readonly text: string; readonly at: number },
): Promise<void> {
  await link.query({
    name: 'keep_answer',
    text: `INSERT INTO signalbox.answers (key, kept_at, text) VALUES ($1, $2, $3)
      ON CONFLICT (key) DO UPDATE SET kept_at = excluded.kept_at, text = excluded.text`,
    values: [digestOf(key), at, toKept(text)],
  });
}

/** A key may be longer than what an index takes. */
function digestOf(key: string): string {
  return createHash('sha256').update(key, 'utf16le').digest('hex');
}
