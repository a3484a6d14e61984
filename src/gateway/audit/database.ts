import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { checkOwner, type Layout } from '../../store/sqlite/layout.ts';
import { loadSqlite } from '../../store/sqlite/node-sqlite.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { type Head, readHead } from './keys.ts';

/**
 * Opens an audit for reading, even in a read-only folder. Throws FILE_UNREADABLE if there is none, and STORE_FAILED.
 */
export function openKept(file: string): DatabaseSync {
  if (!existsSync(file)) {
    throw new RuntimeError('FILE_UNREADABLE', `there is no audit in ${file}`, {
      hint: 'Set spec.gateway.audit to record one, or name a copy with --database.',
    });
  }
  try {
    return openReadable(file) ?? openImmutable(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Returns undefined if SQLite cannot create the shared-memory files that readers need. */
function openReadable(file: string): DatabaseSync | undefined {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA query_only = ON`);
    checkOwner(database, file, auditLayout);
    return database;
  } catch (error) {
    database.close();
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
    if (code === SQLITE_CANTOPEN || code === SQLITE_READONLY) return undefined;
    throw error;
  }
}

/** Safe only because no process can be writing to the file. */
function openImmutable(file: string): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const address = pathToFileURL(file);
  address.search = 'immutable=1';
  const database = new DatabaseSync(address, { readOnly: true });
  try {
    checkOwner(database, file, auditLayout);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;
const BUSY_MS = 5000;

// `chain` holds the one head. `contents` holds the bodies of calls if the config asks for them.
const tables = `
CREATE TABLE chain (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  key TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;

CREATE TABLE rows (
  seq INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  id TEXT AS (body ->> '$.id') VIRTUAL
) STRICT;
CREATE INDEX rows_by_id ON rows (id);

CREATE TABLE contents (
  seq INTEGER PRIMARY KEY REFERENCES rows (seq) ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;
`;

/** The application ID is "SGBA" in ASCII. */
export const auditLayout: Layout = { applicationId: 0x53474241, version: 1, tables };

export interface KeptRow {
  readonly seq: number;
  readonly body: Uint8Array;
  readonly hash: string;
  readonly content: Uint8Array | undefined;
}

/** Yields all rows in order. Returns bytes because decoding to text loses invalid UTF-8. */
export function* readRows(database: DatabaseSync): Generator<KeptRow> {
  const statement = database.prepare(`
    SELECT rows.seq, CAST(body AS BLOB) AS body, CAST(hash AS BLOB) AS hash, CAST(text AS BLOB) AS content
    FROM rows LEFT JOIN contents ON contents.seq = rows.seq ORDER BY rows.seq`);
  // Without this, SQLite throws on an integer beyond 2^53. Verification must report such a row.
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

export function hashOf(chain: string, { seq, body }: KeptRow, previous: string): string {
  return createHash('sha256')
    .update(`signalbox-audit/1\n${chain}\n${seq}\n${previous}\n`)
    .update(body)
    .digest('hex');
}

/** Returns undefined unless the body is a JSON object. */
export function membersOf(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns undefined if the stored head is invalid. */
export function readTip(database: DatabaseSync): Head | undefined {
  const row = database.prepare('SELECT id AS chain, seq, hash, at, key, signature FROM chain').get();
  return row === undefined ? undefined : readHead(JSON.stringify(row));
}
