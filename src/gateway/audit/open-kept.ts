import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RuntimeError } from '../../base/errors.ts';
import { checkOwner } from '../../store/sqlite/layout.ts';
import { loadSqlite } from '../../store/sqlite/node-sqlite.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { auditLayout } from './layout.ts';

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
