import type { DatabaseSync } from 'node:sqlite';
import { RuntimeError } from '../../errors.ts';
import { numberOf } from './row.ts';

/** The version of the tables that this Signalbox writes, kept as the file's user_version. */
const VERSION = 1;
/** "SGBX": says that a file is one of ours. Source: https://www.sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x53474258;

/** Throws STORE_FAILED, and changes nothing, when the file belongs to another program or to a newer Signalbox. */
export function checkOwner(connection: DatabaseSync, file: string): void {
  const version = readPragma(connection, 'user_version');
  const application = readPragma(connection, 'application_id');
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0 || hasTables(connection))) {
    throw new RuntimeError('STORE_FAILED', `${file} is the database of another program`, {
      hint: 'Choose another path in spec.state_store.',
    });
  }
  if (version > VERSION) {
    throw new RuntimeError(
      'STORE_FAILED',
      `the state store ${file} is of version ${version}, and this Signalbox knows version ${VERSION}`,
      { hint: 'A newer Signalbox has written it: use that one, or choose another path in spec.state_store.' },
    );
  }
}

/** Makes the tables if there are none. Runs in a transaction of the caller's. */
export function createTables(connection: DatabaseSync): void {
  if (readPragma(connection, 'user_version') !== 0) return;
  connection.exec(tables);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION}`);
}

/**
 * Throws what SQLite says unless the file can be written. Only a write tells: SQLite takes a write transaction on a
 * read-only file for one that reads. Runs in a transaction of the caller's, who rolls it back.
 */
export function probeWrite(connection: DatabaseSync): void {
  connection.exec(`PRAGMA user_version = ${VERSION}`);
}

function readPragma(connection: DatabaseSync, name: string): number {
  return numberOf(connection.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}

function hasTables(connection: DatabaseSync): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}

const tables = `
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('pipeline', 'tool')),
  name TEXT NOT NULL,
  file TEXT,
  source TEXT NOT NULL,
  config TEXT NOT NULL,
  input TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('running', 'pending', 'completed', 'failed', 'denied', 'cancelled')),
  output TEXT,
  error TEXT,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_status ON runs (status);

CREATE TABLE steps (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  outcome TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (run_id, step),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT;

CREATE TABLE pendings (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  args TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('tool', 'hook', 'approval', 'interrupted')),
  hook TEXT,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  members TEXT NOT NULL,
  previous TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  ruling TEXT CHECK (ruling IN ('approved', 'rejected', 'responded', 'expired', 'cancelled')),
  ruled_by TEXT,
  ruling_reason TEXT,
  edited_args TEXT,
  result TEXT,
  decided_at INTEGER,
  CHECK ((ruling IS NULL) = (decided_at IS NULL))
) STRICT;
CREATE INDEX pendings_by_run ON pendings (run_id);
CREATE INDEX pendings_open ON pendings (expires_at) WHERE ruling IS NULL;
`;
