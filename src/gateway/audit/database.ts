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
 * Opens an audit to read it, beside whoever writes to it; also a copy in a folder where nothing may be written. Throws
 * FILE_UNREADABLE where there is none, and STORE_FAILED.
 */
export function openKept(file: string): DatabaseSync {
  if (!existsSync(file)) {
    throw new RuntimeError('FILE_UNREADABLE', `there is no audit in ${file}`, {
      hint: 'spec.gateway.audit keeps one; --database names a copy.',
    });
  }
  try {
    return openReadable(file) ?? openImmutable(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** Undefined where SQLite may not make the files that readers share. */
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

/** Nobody can be writing to it. */
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

// `rows` is the chain; `chain` its one head; `contents` has the bodies of calls, where the config asks for them.
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

/** "SGBA": the audit of a gateway. */
export const auditLayout: Layout = { applicationId: 0x53474241, version: 1, tables };

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

/** The head in the database; undefined for what is none. */
export function readTip(database: DatabaseSync): Head | undefined {
  const row = database.prepare('SELECT id AS chain, seq, hash, at, key, signature FROM chain').get();
  return row === undefined ? undefined : readHead(JSON.stringify(row));
}
