import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { isObject } from '../../../base/json/json.ts';

/** A row with the exact bytes that are kept. */
export interface KeptRow {
  readonly seq: number;
  readonly body: Uint8Array;
  readonly hash: string;
  /** The content beside it, if there is any. */
  readonly content: Uint8Array | undefined;
}

/** All rows in order; nothing of them is kept in memory. As bytes, since texts are decoded with loss. */
export function* readRows(database: DatabaseSync): Generator<KeptRow> {
  const statement = database.prepare(`
    SELECT rows.seq, CAST(body AS BLOB) AS body, CAST(hash AS BLOB) AS hash, CAST(text AS BLOB) AS content
    FROM rows LEFT JOIN contents ON contents.seq = rows.seq ORDER BY rows.seq`);
  // Numbers that no row of ours has must be told, not thrown at.
  statement.setReadBigInts(true);
  for (const row of statement.iterate()) {
    const { seq, body, hash, content } = row;
    yield {
      seq: Number(seq),
      body: bytesOf(body),
      hash: Buffer.from(bytesOf(hash)).toString('latin1'),
      content: content === null ? undefined : bytesOf(content),
    };
  }
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

/** The hash that a row has to have. */
export function hashOf(chain: string, { seq, body }: KeptRow, previous: string): string {
  return createHash('sha256')
    .update(`signalbox-audit/1\n${chain}\n${seq}\n${previous}\n`)
    .update(body)
    .digest('hex');
}

/** The members of a row's body; undefined for what is no JSON object. */
export function membersOf(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
